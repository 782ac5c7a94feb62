-- Spoken by SQLite and PostgreSQL alike, see V1.

create table identities (
    id text not null primary key,
    account_id text not null references accounts (id),
    managed smallint not null check (managed in (0, 1)),
    created_at bigint not null
);

create index identities_of_account on identities (account_id, created_at, id);

create table identity_tokens (
    id text not null primary key,
    identity_id text not null references identities (id) on delete cascade,
    secret_hash text not null,
    created_at bigint not null
);

create index tokens_of_identity on identity_tokens (identity_id, created_at, id);

-- linux_users are names with blanks between; none at all: any user. A grant goes with its VM and with its identity.
create table vm_grants (
    id text not null primary key,
    identity_id text not null references identities (id) on delete cascade,
    vm_id text not null references vms (id) on delete cascade,
    linux_users text,
    granted_at bigint not null,
    unique (identity_id, vm_id)
);

create index grants_on_vm on vm_grants (vm_id);
