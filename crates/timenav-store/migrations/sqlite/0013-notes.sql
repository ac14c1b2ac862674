-- A checkpoint is signed once it is known that its entries are there for good, so none is written with them any more. What
-- versions before have written stays until the next entry of its timeline, since with an entry of version 1 of the format
-- nothing else was signed.
ALTER TABLE timelines RENAME COLUMN checkpoint TO carried_note;
