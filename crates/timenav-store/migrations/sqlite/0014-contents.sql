-- Payload and salt of the entries that retention may let go, reads and refusals, by the key of the entry. A sweep deletes
-- whole runs of them, so whole pages of this table become free and are filled again; in `entries` they left holes between
-- the leaves. In `entries` both are of length zero then. Entries that were recorded before this step keep them there, and
-- so do all others.
CREATE TABLE contents (
    entry   INTEGER PRIMARY KEY,
    salt    BLOB NOT NULL,
    payload BLOB NOT NULL CHECK (length(payload) > 0)
) STRICT;
