-- Who made a timeline, as its first entry tells, and how many records were sealed on it: both are counted against a
-- quota.
ALTER TABLE timelines ADD COLUMN created_by TEXT NOT NULL DEFAULT '';
ALTER TABLE timelines ADD COLUMN data_count INTEGER NOT NULL DEFAULT 0;

UPDATE timelines SET
    created_by = coalesce((SELECT json_extract(CAST(e.leaf AS TEXT), '$.actor') FROM entries e
        WHERE e.entry = timelines.timeline << 40), 'unknown'),
    data_count = (SELECT count(*) FROM data_records d WHERE d.timeline = timelines.timeline);

-- Keys are listed from here, since those that work no more are not kept in memory.
CREATE INDEX api_keys_by_user ON api_keys (user_id, created_at, key_id);
