-- Spoken by SQLite and PostgreSQL alike, see V1.

-- email is in lower case.
create table users (
    id text not null primary key,
    email text not null unique,
    name text,
    password_hash text not null,
    created_at bigint not null
);

create table memberships (
    user_id text not null references users (id) on delete cascade,
    account_id text not null references accounts (id),
    role text not null check (role in ('owner', 'member')),
    primary key (user_id, account_id)
);

create index members_of_account on memberships (account_id);

-- Sign-ins under way, and who has confirmed them.
create table sign_ins (
    polling_hash text not null primary key,
    login_hash text not null unique,
    source text,
    user_id text references users (id) on delete cascade,
    created_at bigint not null,
    expires_at bigint not null
);

create index sign_ins_expiring on sign_ins (expires_at);
create index sign_ins_of_source on sign_ins (source);
create index sign_ins_of_user on sign_ins (user_id);

-- The secret is that of the session's refresh token.
create table sessions (
    id text not null primary key,
    user_id text not null references users (id) on delete cascade,
    secret_hash text not null,
    created_at bigint not null,
    used_at bigint not null
);

create index sessions_of_user on sessions (user_id, used_at);
create index sessions_unused on sessions (used_at);
create index sessions_ending on sessions (created_at);

create table access_tokens (
    id text not null primary key,
    session_id text not null references sessions (id) on delete cascade,
    secret_hash text not null,
    expires_at bigint not null
);

create index access_tokens_of_session on access_tokens (session_id, expires_at);
create index access_tokens_expiring on access_tokens (expires_at);

-- Who made a key after signing in. It refers to nothing: a key belongs to its account and outlives its maker.
alter table api_keys add column user_id text;
