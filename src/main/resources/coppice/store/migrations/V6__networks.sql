-- Spoken by SQLite and PostgreSQL alike, see V1.

create table vpcs (
    id text not null primary key,
    account_id text not null,
    cidr text not null,
    cidr_v6 text not null,
    slug text,
    display_name text,
    created_at bigint not null
);

create unique index vpc_slugs on vpcs (account_id, slug);

-- One for each VM. A slot is of this host; vpc_id and what follows are empty for a VM in no network.
create table nics (
    vm_id text not null primary key,
    account_id text not null,
    slot integer not null unique,
    public_ipv6 text unique,
    vpc_id text,
    ipv4 text,
    ipv6 text,
    routes text not null default ''
);

-- source and destination are JSON objects with the fields of the contract.
create table firewall_rules (
    id text not null primary key,
    account_id text not null,
    source text not null,
    destination text not null,
    description text,
    created_at bigint not null
);

create index firewall_rules_of_account on firewall_rules (account_id);

create table tunnels (
    id text not null primary key,
    account_id text not null,
    number integer not null unique,
    slug text,
    display_name text,
    client_key text not null unique,
    routes text not null,
    created_at bigint not null,
    updated_at bigint not null
);

create unique index tunnel_slugs on tunnels (account_id, slug);

create table attachments (
    tunnel_id text not null,
    vpc_id text not null,
    ipv4 text,
    ipv6 text,
    remote text not null default '',
    is_exit integer not null default 0,
    created_at bigint not null,
    primary key (tunnel_id, vpc_id)
);
