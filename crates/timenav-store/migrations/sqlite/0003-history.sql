-- A fork goes on from the first `fork_size` entries of timeline `fork_of`. `overrides_count` is the
-- number of inherited events that its own entries changed. `clock_entry` is the position of the
-- entry whose payload tells of the clock.
ALTER TABLE timelines ADD COLUMN fork_of INTEGER;
ALTER TABLE timelines ADD COLUMN fork_size INTEGER;
ALTER TABLE timelines ADD COLUMN overrides_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE timelines ADD COLUMN clock_entry INTEGER NOT NULL DEFAULT 0;

-- What a fork at an entry begins with: how many events stand after it, and the position of the entry
-- whose payload tells of the clock.
ALTER TABLE entries ADD COLUMN events_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entries ADD COLUMN clock_entry INTEGER NOT NULL DEFAULT 0;

WITH told AS (
    SELECT entry,
        CASE WHEN length(payload) > 0 AND json_valid(CAST(payload AS TEXT)) THEN CAST(payload AS TEXT) END AS payload,
        json_extract(CAST(leaf AS TEXT), '$.action') AS action,
        json_extract(CAST(leaf AS TEXT), '$.subject') AS subject,
        json_extract(CAST(leaf AS TEXT), '$.timeline_id') AS timeline_id
    FROM entries
), marks AS (
    SELECT entry,
        -- On `system`, the making of other timelines tells of their clocks.
        max(CASE WHEN json_type(payload, '$.clock') = 'object' AND (action <> 'create_timeline' OR subject = timeline_id)
            THEN entry & 1099511627775 ELSE 0 END) OVER ledger AS clock_entry,
        sum((action = 'record_event')
            - (action = 'erase_data' AND json_type(payload, '$.event_id') IS 'text')) OVER ledger AS events_count
    FROM told
    WINDOW ledger AS (PARTITION BY entry >> 40 ORDER BY entry)
)
UPDATE entries SET clock_entry = marks.clock_entry, events_count = marks.events_count
    FROM marks WHERE marks.entry = entries.entry;
UPDATE timelines SET clock_entry = coalesce(
    (SELECT e.clock_entry FROM entries e WHERE e.entry = (timelines.timeline << 40) + timelines.size - 1), 0);

-- From this step on, `events` holds every version of an event: one row for each entry that made one.
-- `until` is the position at which it ceased to stand. A row whose `until` is its own position never
-- stood: it says that an event inherited from the timeline that this one was forked from does not
-- stand here; its content is of length zero.

-- Interventions. What happened is in the payload of the entry.
CREATE TABLE interventions (
    timeline        INTEGER NOT NULL,
    event_id        TEXT    NOT NULL,
    position        INTEGER NOT NULL,
    intervention_id TEXT    NOT NULL,
    PRIMARY KEY (timeline, event_id, position)
) STRICT, WITHOUT ROWID;

-- The name of an event in the form by which it is found: in small letters.
ALTER TABLE events ADD COLUMN name_key TEXT;
UPDATE events SET name_key = lower(json_extract(content, '$.name')) WHERE content <> '';
CREATE INDEX events_by_name ON events (timeline, name_key, time, position) WHERE name_key IS NOT NULL;
