-- Names: a column called `timeline` holds the store's number for a timeline; `timeline_id` its name.
-- Instants are microseconds since 1970, host or virtual as the name says.

-- The newest state of each timeline: all that is kept in memory.
CREATE TABLE timelines (
    timeline         INTEGER PRIMARY KEY,
    timeline_id      TEXT    NOT NULL UNIQUE,
    created_at       INTEGER NOT NULL,
    size             INTEGER NOT NULL,
    frontier         BLOB    NOT NULL,
    checkpoint       TEXT    NOT NULL,
    recorded_at      INTEGER NOT NULL,
    clock_running    INTEGER NOT NULL,
    clock_rate       INTEGER NOT NULL,
    clock_host       INTEGER NOT NULL,
    clock_virtual    INTEGER NOT NULL,
    clock_location   TEXT,
    clock_generation INTEGER NOT NULL,
    events_count     INTEGER NOT NULL,
    anchors_count    INTEGER NOT NULL
) STRICT;

CREATE TABLE permissions (
    timeline INTEGER NOT NULL,
    user_id  TEXT    NOT NULL,
    role     TEXT    NOT NULL CHECK (role IN ('read', 'write', 'admin')),
    PRIMARY KEY (timeline, user_id, role)
) STRICT, WITHOUT ROWID;

-- The ledgers. `entry` is timeline * 2^40 + position, so that each ledger is one run of rows and
-- an append goes to its end.
CREATE TABLE entries (
    entry   INTEGER PRIMARY KEY,
    leaf    BLOB NOT NULL,
    salt    BLOB NOT NULL,
    payload BLOB NOT NULL
) STRICT;

-- Hashes of the trees, 256 at a time: level 0 holds leaf hashes and only full tiles, a higher level
-- the roots of full tiles of the level below, as many as there are.
CREATE TABLE tiles (
    timeline INTEGER NOT NULL,
    level    INTEGER NOT NULL,
    tile     INTEGER NOT NULL,
    hashes   BLOB    NOT NULL,
    PRIMARY KEY (timeline, level, tile)
) STRICT;

-- Events, kept together by place (a cell of one degree; -1 without coordinates), then time: that is
-- how they are asked for. `until` is the position at which a version ceased to stand.
CREATE TABLE events (
    timeline INTEGER NOT NULL,
    cell     INTEGER NOT NULL,
    time     INTEGER NOT NULL,
    position INTEGER NOT NULL,
    until    INTEGER,
    lat      REAL,
    lon      REAL,
    event_id TEXT    NOT NULL,
    place    TEXT,
    content  TEXT    NOT NULL,
    PRIMARY KEY (timeline, cell, time, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX events_by_time ON events (timeline, time, position);
CREATE INDEX events_by_place ON events (timeline, place, time, position) WHERE place IS NOT NULL;
CREATE INDEX events_by_id ON events (timeline, event_id);

CREATE TABLE anchors (
    timeline    INTEGER NOT NULL,
    position    INTEGER NOT NULL,
    anchor_id   TEXT    NOT NULL,
    set_at      INTEGER NOT NULL,
    timestamp   INTEGER NOT NULL,
    description TEXT    NOT NULL,
    fixed       INTEGER NOT NULL,
    clock_at       INTEGER NOT NULL,
    clock_running  INTEGER NOT NULL,
    clock_rate     INTEGER NOT NULL,
    clock_location TEXT,
    PRIMARY KEY (timeline, position)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX anchors_by_id ON anchors (timeline, anchor_id);

CREATE TABLE users (
    user_id     TEXT    PRIMARY KEY,
    operator    INTEGER NOT NULL,
    restriction TEXT    NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
    key_id      TEXT    PRIMARY KEY,
    hash        BLOB    NOT NULL UNIQUE,
    user_id     TEXT    NOT NULL,
    timeline_id TEXT    NOT NULL,
    label       TEXT    NOT NULL,
    scopes      TEXT,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER,
    revoked_at  INTEGER
) STRICT, WITHOUT ROWID;

-- Outcomes of requests that carried an idempotency key.
CREATE TABLE outcomes (
    key         BLOB    PRIMARY KEY,
    fingerprint BLOB    NOT NULL,
    expires_at  INTEGER NOT NULL,
    outcome     TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX outcomes_by_expiry ON outcomes (expires_at);
