-- Names: a column called `timeline` holds the store's number for a timeline; `timeline_id` its name.
-- Instants are microseconds since 1970, host or virtual as the name says.
--
-- Each key begins with the timeline, so that rows can be distributed by it. Texts that people write are kept as their
-- UTF-8 bytes: `text` holds no NUL, and a name may. Ids have none; they are compared byte by byte.

-- The newest state of each timeline: all that is kept in memory. Each step changes the row, so pages have room for that.
CREATE TABLE timelines (
    timeline         bigint  NOT NULL PRIMARY KEY,
    timeline_id      text    COLLATE "C" NOT NULL UNIQUE,
    created_at       bigint  NOT NULL,
    created_by       text    COLLATE "C" NOT NULL,
    expires_at       bigint,
    fork_of          bigint,
    fork_size        bigint,
    origins          bytea   NOT NULL,
    size             bigint  NOT NULL,
    frontier         bytea   NOT NULL,
    statement        bytea   NOT NULL,
    carried_note     bytea   NOT NULL,
    recorded_at      bigint  NOT NULL,
    clock_running    boolean NOT NULL,
    clock_rate       bigint  NOT NULL,
    clock_host       bigint  NOT NULL,
    clock_virtual    bigint  NOT NULL,
    clock_location   bytea,
    clock_generation bigint  NOT NULL,
    clock_entry      bigint  NOT NULL,
    events_count     bigint  NOT NULL,
    anchors_count    bigint  NOT NULL,
    overrides_count  bigint  NOT NULL,
    data_count       bigint  NOT NULL,
    directory        bigint  NOT NULL,
    timers           bytea   NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE permissions (
    timeline bigint NOT NULL,
    user_id  text   COLLATE "C" NOT NULL,
    role     text   COLLATE "C" NOT NULL CHECK (role IN ('read', 'write', 'admin')),
    PRIMARY KEY (timeline, user_id, role)
);

-- The ledgers. What tells of reads is kept in a short form. Salt and payload are of length zero once they are gone.
-- `payload_bytes` is how many bytes a payload has that is kept deflated (RFC 1951).
CREATE TABLE entries (
    timeline      bigint NOT NULL,
    position      bigint NOT NULL,
    leaf          bytea  NOT NULL,
    salt          bytea  NOT NULL,
    payload       bytea  NOT NULL,
    payload_bytes bigint CHECK (payload_bytes > 0),
    events_count  bigint NOT NULL,
    clock_entry   bigint NOT NULL,
    PRIMARY KEY (timeline, position)
);

-- Hashes of the trees, 256 at a time: level 0 holds leaf hashes and only full tiles, a higher level the roots of full
-- tiles of the level below, as many as there are.
CREATE TABLE tiles (
    timeline bigint  NOT NULL,
    level    integer NOT NULL,
    tile     bigint  NOT NULL,
    hashes   bytea   NOT NULL,
    PRIMARY KEY (timeline, level, tile)
);
ALTER TABLE tiles ALTER COLUMN hashes SET STORAGE EXTERNAL;

-- Every version of an event: one row for each entry that made one. `until` is the position at which it ceased to stand.
-- A row whose `until` is its own position never stood: it says that an event inherited from the timeline that this one
-- was forked from does not stand here. `cell` is a cell of one degree, null without coordinates.
CREATE TABLE events (
    timeline bigint NOT NULL,
    position bigint NOT NULL,
    event_id text   COLLATE "C" NOT NULL,
    time     bigint NOT NULL,
    until    bigint,
    lat      double precision,
    lon      double precision,
    cell     bigint,
    place    bytea,
    name_key bytea,
    content  bytea  NOT NULL,
    PRIMARY KEY (timeline, event_id, position)
);
CREATE INDEX events_by_time ON events (timeline, time, position);
CREATE INDEX events_by_cell ON events (timeline, cell, time, position) WHERE cell IS NOT NULL;
CREATE INDEX events_by_place ON events (timeline, place, time, position) WHERE place IS NOT NULL;
CREATE INDEX events_by_name ON events (timeline, name_key, time, position) WHERE name_key IS NOT NULL;

-- Interventions. What happened is in the payload of the entry.
CREATE TABLE interventions (
    timeline        bigint NOT NULL,
    event_id        text   COLLATE "C" NOT NULL,
    position        bigint NOT NULL,
    intervention_id text   COLLATE "C" NOT NULL,
    PRIMARY KEY (timeline, event_id, position)
);

CREATE TABLE anchors (
    timeline       bigint  NOT NULL,
    position       bigint  NOT NULL,
    anchor_id      text    COLLATE "C" NOT NULL,
    set_at         bigint  NOT NULL,
    timestamp      bigint  NOT NULL,
    description    bytea   NOT NULL,
    fixed          boolean NOT NULL,
    clock_at       bigint  NOT NULL,
    clock_running  boolean NOT NULL,
    clock_rate     bigint  NOT NULL,
    clock_location bytea,
    PRIMARY KEY (timeline, position),
    UNIQUE (timeline, anchor_id)
);

-- Data sealed under its owner's key. `erased` is the position of the entry that erased it; salt, nonce, commitment and
-- ciphertext are of length zero then.
CREATE TABLE data_records (
    timeline   bigint   NOT NULL,
    position   bigint   NOT NULL,
    data_id    text     COLLATE "C" NOT NULL,
    erased     bigint,
    format     smallint NOT NULL,
    kind       smallint NOT NULL,
    salt       bytea    NOT NULL,
    nonce      bytea    NOT NULL,
    commitment bytea    NOT NULL,
    ciphertext bytea    NOT NULL,
    PRIMARY KEY (timeline, position),
    UNIQUE (timeline, data_id)
);
CREATE INDEX data_records_by_id ON data_records (data_id, timeline);

-- What shall happen at virtual moments. `position` is that of the entry that set the timer; `next` is its next moment,
-- null where it has none. `round` grows where moments that fell due come again.
CREATE TABLE timers (
    timeline  bigint  NOT NULL,
    position  bigint  NOT NULL,
    timer_id  text    COLLATE "C" NOT NULL,
    next      bigint,
    round     bigint  NOT NULL,
    cancelled boolean NOT NULL,
    schedule  bytea   NOT NULL,
    deliver   bytea   NOT NULL,
    queue     text    COLLATE "C" NOT NULL,
    order_key bytea,
    payload   bytea   NOT NULL,
    set_by    text    COLLATE "C" NOT NULL,
    set_at    bigint  NOT NULL,
    PRIMARY KEY (timeline, position),
    UNIQUE (timeline, timer_id)
);
CREATE INDEX timers_by_next ON timers (timeline, next, position) WHERE next IS NOT NULL;
CREATE INDEX timers_at_rest ON timers (timeline, cancelled, position) WHERE next IS NULL;

-- Moments of timers that fell due. `state`: 0 pending, 1 acknowledged, 2 failed, 3 superseded. `made` and `settled` are
-- the entries that tell of the firing and of its outcome, `advance` the one that began the advance that it was made in.
CREATE TABLE firings (
    timeline  bigint NOT NULL,
    due       bigint NOT NULL,
    position  bigint NOT NULL,
    round     bigint NOT NULL,
    firing_id text   COLLATE "C" NOT NULL,
    timer_id  text   COLLATE "C" NOT NULL,
    queue     text   COLLATE "C" NOT NULL,
    order_key bytea,
    state     bigint NOT NULL,
    made      bigint NOT NULL,
    settled   bigint,
    advance   bigint,
    reason    bytea,
    PRIMARY KEY (timeline, due, position, round),
    UNIQUE (timeline, firing_id)
);
CREATE INDEX firings_by_timer ON firings (timeline, position, due, round);
CREATE INDEX firings_pending ON firings (timeline, queue, due, position, round) WHERE state = 0;
CREATE INDEX firings_open ON firings (timeline, made) WHERE state = 0;

-- Clock changes that passed timers one by one and have ended: what came of each, as JSON.
CREATE TABLE advances (
    timeline   bigint NOT NULL,
    position   bigint NOT NULL,
    advance_id text   COLLATE "C" NOT NULL,
    ended      bigint NOT NULL,
    record     bytea  NOT NULL,
    PRIMARY KEY (timeline, position),
    UNIQUE (timeline, advance_id)
);

-- Who is at work, where several services share the database. Nothing of it is in a ledger, and a server that comes back
-- from a crash has forgotten it: then a firing is handed out once more. `until` and `not_before` are by this server's clock.

-- Services that are there, with their version and the feature level that it knows; each start is another one.
CREATE UNLOGGED TABLE services (
    service text   COLLATE "C" NOT NULL PRIMARY KEY,
    name    bytea  NOT NULL,
    version text   COLLATE "C" NOT NULL,
    level   bigint NOT NULL,
    until   bigint NOT NULL
) WITH (fillfactor = 50);

-- Which of them keeps the time of a timeline, and how often it was taken. Whoever changes leases of the timeline, and each
-- step that looks at them, locks the row.
CREATE UNLOGGED TABLE timekeepers (
    timeline bigint NOT NULL PRIMARY KEY,
    service  text   COLLATE "C" NOT NULL,
    epoch    bigint NOT NULL
) WITH (fillfactor = 50);

-- The newest checkpoint of `system` that witnesses have cosigned, as it is handed around: one row at most. Its signatures
-- alone are believed.
CREATE UNLOGGED TABLE cosigned (
    id   boolean NOT NULL PRIMARY KEY CHECK (id),
    note bytea   NOT NULL
);

-- Queues that somebody listens to, by the service that they ask.
CREATE UNLOGGED TABLE listeners (
    timeline bigint NOT NULL,
    queue    text   COLLATE "C" NOT NULL,
    service  text   COLLATE "C" NOT NULL,
    until    bigint NOT NULL,
    PRIMARY KEY (timeline, queue, service)
) WITH (fillfactor = 50);

-- Firings without an outcome that were handed out. `until` is null where nobody has one. `code` is made with the services'
-- key over the number of attempts.
CREATE UNLOGGED TABLE firing_leases (
    timeline   bigint NOT NULL,
    firing_id  text   COLLATE "C" NOT NULL,
    queue      text   COLLATE "C" NOT NULL,
    lease_id   text   COLLATE "C" NOT NULL,
    holder     text   COLLATE "C" NOT NULL,
    attempts   bigint NOT NULL,
    until      bigint,
    not_before bigint NOT NULL,
    code       bytea  NOT NULL,
    PRIMARY KEY (timeline, firing_id)
);
CREATE INDEX firing_leases_by_end ON firing_leases (until) WHERE until IS NOT NULL;

-- Users, and what shows who they are. They belong to the ledger `system`, whose number is 1.
CREATE TABLE users (
    user_id     text    COLLATE "C" NOT NULL PRIMARY KEY,
    operator    boolean NOT NULL,
    restriction text    COLLATE "C" NOT NULL,
    created_at  bigint  NOT NULL
);
CREATE TABLE api_keys (
    key_id      text   COLLATE "C" NOT NULL PRIMARY KEY,
    hash        bytea  NOT NULL UNIQUE,
    user_id     text   COLLATE "C" NOT NULL,
    timeline_id text   COLLATE "C" NOT NULL,
    label       bytea  NOT NULL,
    scopes      text,
    created_at  bigint NOT NULL,
    expires_at  bigint,
    revoked_at  bigint,
    -- How far the key sees: to what the clock of its timeline shows, to what was known at a position of its ledger.
    horizon     text   CHECK (horizon = 'clock'),
    known_at    bigint CHECK (known_at >= 0)
);
CREATE INDEX api_keys_by_user ON api_keys (user_id, created_at, key_id);
CREATE TABLE passwords (
    user_id text   COLLATE "C" NOT NULL PRIMARY KEY,
    phc     text   NOT NULL,
    set_at  bigint NOT NULL
);
CREATE TABLE sessions (
    session_id text   COLLATE "C" NOT NULL PRIMARY KEY,
    hash       bytea  NOT NULL UNIQUE,
    user_id    text   COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    renewed_at bigint NOT NULL,
    expires_at bigint NOT NULL
);
CREATE INDEX sessions_by_user ON sessions (user_id);

-- Outcomes of requests that carried an idempotency key, and of which event they hold the content. `told_of` is the
-- timeline that the outcome itself names.
CREATE TABLE outcomes (
    key         bytea  NOT NULL PRIMARY KEY,
    fingerprint bytea  NOT NULL,
    expires_at  bigint NOT NULL,
    outcome     bytea  NOT NULL,
    timeline_id text   COLLATE "C",
    event_id    text   COLLATE "C",
    told_of     text   COLLATE "C"
);
CREATE INDEX outcomes_by_expiry ON outcomes (expires_at);
CREATE INDEX outcomes_by_event ON outcomes (timeline_id, event_id) WHERE event_id IS NOT NULL;
CREATE INDEX outcomes_by_timeline ON outcomes (told_of) WHERE told_of IS NOT NULL;

-- How long each class is kept, in seconds, from the entry at that position on; null is for ever. Up to where the
-- entries that were recorded under it are swept is only so that they are not looked at again.
CREATE TABLE policies (
    timeline         bigint NOT NULL,
    position         bigint NOT NULL,
    reads_seconds    bigint,
    refusals_seconds bigint,
    reads_until      bigint,
    refusals_until   bigint,
    PRIMARY KEY (timeline, position)
);

-- Sweeps that were committed. Those that are not finished are finished after the next start.
CREATE TABLE sweeps (
    timeline bigint  NOT NULL,
    position bigint  NOT NULL,
    finished boolean NOT NULL,
    PRIMARY KEY (timeline, position)
);
CREATE INDEX sweeps_left ON sweeps (timeline, position) WHERE NOT finished;

-- Timelines that have ended. Their entries and tiles stay under their number; `root` and `size` are signed with the
-- ledger `system`, so that none of them stands again and no name is free again. From `due_at` on their contents may be
-- let go; `is_let_go` says that it was done.
CREATE TABLE ended_timelines (
    timeline    bigint  NOT NULL PRIMARY KEY,
    timeline_id text    COLLATE "C" NOT NULL UNIQUE,
    size        bigint  NOT NULL,
    root        bytea   NOT NULL,
    ended_at    bigint  NOT NULL,
    fork_of     bigint,
    fork_size   bigint,
    overrides   boolean NOT NULL,
    due_at      bigint  NOT NULL,
    is_let_go   boolean NOT NULL
);

-- Timelines of other services that arrive: rows of other tables under these numbers belong to a bundle of which not all is
-- there yet. Only numbers below zero are in it, and none of a timeline that stands or has ended. Nobody finds a timeline by
-- this table, so a row here neither shows nor hides one. The row goes in the step that makes the timeline stand, or after
-- the last of the rows that arrived. Timelines of one bundle have the same `arrival`. The service that adopts it moves
-- `until` on, by the clock of this server: after that the others take it for one that nobody goes on with. Once `is_over`
-- says so, nothing is added and the timeline never stands.
CREATE TABLE arrivals (
    timeline    bigint  NOT NULL PRIMARY KEY,
    timeline_id text    COLLATE "C" NOT NULL,
    arrival     text    COLLATE "C" NOT NULL,
    until       bigint  NOT NULL,
    is_over     boolean NOT NULL
);

-- Checkpoints that both keys have signed where one took the place of the other, by the position of the entry that tells
-- of it.
CREATE TABLE rotation_notes (
    timeline bigint NOT NULL,
    position bigint NOT NULL,
    note     bytea  NOT NULL,
    PRIMARY KEY (timeline, position)
);

-- Host time when it was last known to be right: one row at most.
CREATE TABLE host_clock (
    id       boolean NOT NULL PRIMARY KEY CHECK (id),
    known_at bigint  NOT NULL
);

-- The feature level: what all services on the database may write. It goes up once all of them know more: one row at most.
CREATE TABLE feature_level (
    id    boolean NOT NULL PRIMARY KEY CHECK (id),
    level bigint  NOT NULL
);

-- What is written here shows that something can be written, and is taken away again.
CREATE TABLE room (
    filling bytea NOT NULL
);
