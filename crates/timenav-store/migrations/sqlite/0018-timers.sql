-- What is known of a timeline's timers without looking at any, as JSON; empty where there were never any.
ALTER TABLE timelines ADD COLUMN timers TEXT NOT NULL DEFAULT '';

-- What shall happen at virtual moments. `position` is that of the entry that set the timer; `next` is its next moment,
-- NULL where it has none. `round` grows where moments that fell due come again.
CREATE TABLE timers (
    timeline  INTEGER NOT NULL,
    position  INTEGER NOT NULL,
    timer_id  TEXT    NOT NULL,
    next      INTEGER,
    round     INTEGER NOT NULL,
    cancelled INTEGER NOT NULL CHECK (cancelled IN (0, 1)),
    schedule  TEXT    NOT NULL,
    deliver   TEXT    NOT NULL,
    queue     TEXT    NOT NULL,
    order_key TEXT,
    payload   TEXT    NOT NULL,
    set_by    TEXT    NOT NULL,
    set_at    INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX timers_by_position ON timers (timeline, position);
CREATE UNIQUE INDEX timers_by_id ON timers (timeline, timer_id);
CREATE INDEX timers_by_next ON timers (timeline, next, position) WHERE next IS NOT NULL;
CREATE INDEX timers_at_rest ON timers (timeline, cancelled, position) WHERE next IS NULL;

-- Moments of timers that fell due. `state`: 0 pending, 1 acknowledged, 2 failed, 3 superseded. `made` and `settled` are
-- the entries that tell of the firing and of its outcome, `advance` the one that began the advance that it was made in.
CREATE TABLE firings (
    timeline  INTEGER NOT NULL,
    due       INTEGER NOT NULL,
    position  INTEGER NOT NULL,
    round     INTEGER NOT NULL,
    firing_id TEXT    NOT NULL,
    timer_id  TEXT    NOT NULL,
    queue     TEXT    NOT NULL,
    order_key TEXT,
    state     INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3),
    made      INTEGER NOT NULL,
    settled   INTEGER,
    advance   INTEGER,
    reason    TEXT,
    PRIMARY KEY (timeline, due, position, round)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX firings_by_id ON firings (timeline, firing_id);
CREATE INDEX firings_by_timer ON firings (timeline, position, due, round);
CREATE INDEX firings_pending ON firings (timeline, queue, due, position, round) WHERE state = 0;
CREATE INDEX firings_open ON firings (timeline, made) WHERE state = 0;

-- Clock changes that passed timers one by one and have ended: what came of each, as JSON.
CREATE TABLE advances (
    timeline   INTEGER NOT NULL,
    position   INTEGER NOT NULL,
    advance_id TEXT    NOT NULL,
    ended      INTEGER NOT NULL,
    record     TEXT    NOT NULL,
    PRIMARY KEY (timeline, position)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX advances_by_id ON advances (timeline, advance_id);
