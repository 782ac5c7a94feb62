-- Spoken by SQLite and PostgreSQL alike, see V1.

-- Whose the base snapshots are: one account, whose slug is the brand word, and follows it.
alter table accounts add column platform smallint not null default 0;

update accounts set platform = 1 where slug = 'svc';
