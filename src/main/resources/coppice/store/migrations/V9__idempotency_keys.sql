-- Spoken by SQLite and PostgreSQL alike, see V1.

-- Of a request that has not ended, answer is empty. It is sealed under the key itself, of which only a hash is here.
create table idempotency_keys (
    account_id text not null,
    key_hash text not null,
    request_hash text not null,
    begun_at bigint not null,
    answer bytea,
    primary key (account_id, key_hash)
);

create index idempotency_keys_begun on idempotency_keys (begun_at);
