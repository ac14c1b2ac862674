-- When a timeline ends by itself, by the host.
ALTER TABLE timelines ADD COLUMN expires_at INTEGER;

-- Timelines that have ended. Their entries and tiles stay under their number; `root` and `size` are signed with the ledger
-- `system`, so that none of them stands again and no name is free again. From `due_at` on their contents may be let go:
-- payloads and salts of entries, which are of length zero then, and all rows of other tables; `is_let_go` says that it was
-- done.
CREATE TABLE ended_timelines (
    timeline_id TEXT    NOT NULL PRIMARY KEY,
    timeline    INTEGER NOT NULL UNIQUE,
    size        INTEGER NOT NULL,
    root        BLOB    NOT NULL,
    ended_at    INTEGER NOT NULL,
    fork_of     INTEGER,
    fork_size   INTEGER,
    overrides   INTEGER NOT NULL,
    due_at      INTEGER NOT NULL,
    is_let_go   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
