-- What of a timeline lets somebody in or moves something is signed with its entries. Empty until the first entry of
-- version 2 of the format.
ALTER TABLE timelines ADD COLUMN directory INTEGER NOT NULL DEFAULT 0;
ALTER TABLE timelines ADD COLUMN statement BLOB NOT NULL DEFAULT x'';
