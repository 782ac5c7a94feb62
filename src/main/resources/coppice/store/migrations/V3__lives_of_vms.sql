-- Spoken by SQLite and PostgreSQL alike, see V1.

-- When a VM was last used, as of its last change of state.
alter table vms add column last_activity bigint;

-- When a VM that failed is started again. It is 'starting', and has a prior_state only while a try is under way.
alter table vms add column restart_at bigint;

-- The moments of its latest failures, with spaces between, and how many there were in a row.
alter table vms add column failures text not null default '';
alter table vms add column failure_streak integer not null default 0;
