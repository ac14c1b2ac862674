-- Whoever counts events by source or actors needs these beside when and where each is: the source and the list of actors
-- as the event has them in JSON, one after the other. NULL where they are too long to be kept twice, and where the event
-- cannot be read. The index by time gets them too.
ALTER TABLE events ADD COLUMN parties TEXT;
DROP INDEX events_by_time;
UPDATE events SET parties = (SELECT iif(octet_length(told) <= 1000, told, NULL) FROM
        (SELECT coalesce(content -> '$.source', '') || coalesce(content -> '$.actors', '') AS told))
    WHERE json_valid(content);
CREATE INDEX events_by_time ON events (timeline, time, position, until, lat, lon, parties);
