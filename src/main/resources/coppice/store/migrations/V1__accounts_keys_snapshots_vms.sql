-- Spoken by SQLite and PostgreSQL alike. Moments are bigint milliseconds since 1970 (UTC), yes and no are smallint 1 and 0,
-- documents are JSON in text, ids are the text of the wire contract.

create table accounts (
    id text not null primary key,
    slug text not null unique,
    name text not null,
    created_at bigint not null
);

create table api_keys (
    id text not null primary key,
    account_id text not null references accounts (id),
    name text not null,
    secret_hash text not null,
    created_at bigint not null,
    revoked_at bigint
);

create index api_keys_of_account on api_keys (account_id, created_at, id);

-- source_vm_id refers to nothing: a snapshot outlives the VM it was made from.
create table snapshots (
    id text not null primary key,
    account_id text not null references accounts (id),
    slug text,
    display_name text,
    is_public smallint not null default 0 check (is_public in (0, 1)),
    source_vm_id text,
    auto_delete_seconds bigint,
    auto_delete_from_plan smallint not null default 0 check (auto_delete_from_plan in (0, 1)),
    ttl_seconds bigint,
    last_used_at bigint,
    created_at bigint not null,
    updated_at bigint not null,
    unique (account_id, slug)
);

create index snapshots_of_account on snapshots (account_id, created_at, id);

-- snapshot_id refers to nothing: a VM outlives the snapshot it was made from.
create table vms (
    id text not null primary key,
    account_id text not null references accounts (id),
    slug text,
    display_name text,
    state text not null check (state in ('creating', 'starting', 'running', 'pausing', 'paused', 'stopped')),
    prior_state text check (prior_state in ('paused', 'stopped')),
    prior_since bigint,
    state_since bigint not null,
    shape text not null,
    cpu integer not null,
    memory_mib bigint not null,
    storage_mib bigint not null,
    snapshot_id text not null,
    source_snapshot_slug_at_create text,
    idle_timeout_seconds bigint,
    auto_delete_seconds bigint,
    ttl_seconds bigint,
    max_run_seconds bigint,
    max_run_total_seconds bigint,
    auto_delete_from_plan smallint not null default 0 check (auto_delete_from_plan in (0, 1)),
    automatic_restart smallint not null default 0 check (automatic_restart in (0, 1)),
    metadata text not null default '{}',
    placement text,
    firewall text not null default '[]',
    total_run_millis bigint not null default 0,
    running_since bigint,
    run_id text,
    generation text,
    qemu_pid bigint,
    qemu_start bigint,
    qemu_user integer not null,
    failure text,
    created_at bigint not null,
    updated_at bigint not null,
    unique (account_id, slug)
);

create index vms_of_account on vms (account_id, created_at, id);
