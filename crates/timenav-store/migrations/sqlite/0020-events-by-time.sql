-- Whoever counts events needs when and where each is and whether it stands: the index by time has all of that, so that
-- no row has to be looked up.
DROP INDEX events_by_time;
CREATE INDEX events_by_time ON events (timeline, time, position, until, lat, lon);
