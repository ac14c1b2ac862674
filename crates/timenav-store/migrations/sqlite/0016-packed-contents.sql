-- How many bytes a payload has that is kept deflated (RFC 1951); NULL where it is kept as it is. Entries of many reads
-- say nearly the same of each.
ALTER TABLE contents ADD COLUMN payload_bytes INTEGER CHECK (payload_bytes > 0);
