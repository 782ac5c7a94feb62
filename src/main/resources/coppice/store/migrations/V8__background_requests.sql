-- Spoken by SQLite and PostgreSQL alike, see V1.

-- Of a request that is running, finished_at is empty. Of a finished one without a status, the result was too large to keep. A body that is
-- not here is in a file of its own.
create table background_requests (
    id text not null primary key,
    account_id text not null,
    identity_id text,
    operation text not null,
    path text not null,
    vm_id text,
    linux_user text,
    resumption text,
    finished_at bigint,
    status integer,
    headers text,
    body bytea,
    body_length bigint not null default 0
);

create index background_requests_of_account on background_requests (account_id);
create index background_requests_finished on background_requests (finished_at);
