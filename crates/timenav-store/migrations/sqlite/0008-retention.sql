-- How long reads and refusals are kept, and what was let go. The entries say the same: a scan compares both.

-- How long each class is kept, in seconds, from the entry at that position on; null is for ever. Up to where the
-- entries that were recorded under it are swept is only so that they are not looked at again.
CREATE TABLE policies (
    timeline         INTEGER NOT NULL,
    position         INTEGER NOT NULL,
    reads_seconds    INTEGER,
    refusals_seconds INTEGER,
    reads_until      INTEGER,
    refusals_until   INTEGER,
    PRIMARY KEY (timeline, position)
) STRICT, WITHOUT ROWID;

-- Sweeps that were committed. Those that are not finished are finished after the next start.
CREATE TABLE sweeps (
    timeline INTEGER NOT NULL,
    position INTEGER NOT NULL,
    finished INTEGER NOT NULL,
    PRIMARY KEY (timeline, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX sweeps_left ON sweeps (timeline, position) WHERE finished = 0;

-- Host time when it was last known to be right: one row at most.
CREATE TABLE host_clock (
    known_at INTEGER NOT NULL
) STRICT;
