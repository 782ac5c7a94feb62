-- Spoken by SQLite and PostgreSQL alike, see V1.

-- What the legacy family says about a VM. The defaults are those of a VM that the v5 family made.
alter table vms add column ports text not null default '[]';
alter table vms add column workdir text not null default '/';
alter table vms add column persistence text not null default '{"type":"sticky","priority":5}';

-- What a VM made from it gets. Snapshots of before have none here: it stands beside their files.
alter table snapshots add column cpu integer;
alter table snapshots add column memory_mib bigint;
alter table snapshots add column storage_mib bigint;

alter table snapshots add column persistence text not null default '{"type":"persistent"}';

-- A snapshot that was deleted or failed stays listed for a day in the legacy family. Everywhere else it is absent.
alter table snapshots add column deleted_at bigint;
alter table snapshots add column failed_at bigint;
alter table snapshots add column failure_reason text;
