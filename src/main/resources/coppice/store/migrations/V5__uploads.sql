-- Spoken by SQLite and PostgreSQL alike, see V1.

-- Files on their way into VMs, in chunks. received counts the bytes that are in the spool file for good: what the file has beyond them
-- was never acknowledged.
create table uploads (
    id text not null primary key,
    vm_id text not null,
    path text not null,
    size bigint not null,
    sha256 text,
    mode integer,
    received bigint not null default 0,
    touched_at bigint not null
);

create index uploads_of_vm on uploads (vm_id, touched_at);
