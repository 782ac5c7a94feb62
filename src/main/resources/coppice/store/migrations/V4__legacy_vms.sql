-- Spoken by SQLite and PostgreSQL alike, see V1.

-- Traffic of no more bytes than this in ten seconds is no activity.
alter table vms add column activity_threshold_bytes bigint not null default 0;

-- Whether it was made from a template, and the body of a create that makes it anew when it is started after its deletion.
alter table vms add column is_declared smallint not null default 0 check (is_declared in (0, 1));
alter table vms add column recipe text;

-- The moment of its latest stop that was a kill.
alter table vms add column killed_at bigint;

-- VMs that were deleted a short while ago: the legacy family lists them, and makes those with a recipe anew.
create table deleted_vms (
    id text not null primary key,
    account_id text not null references accounts (id),
    snapshot_id text not null,
    persistence text not null,
    is_declared smallint not null check (is_declared in (0, 1)),
    recipe text,
    created_at bigint not null,
    deleted_at bigint not null
);

create index deleted_vms_of_account on deleted_vms (account_id, deleted_at, id);
