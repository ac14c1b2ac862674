-- When a permission expires, by the host. NULL where it does not. The lists with their ends are in what is signed with each
-- entry.
ALTER TABLE permissions ADD COLUMN expires_at bigint;
