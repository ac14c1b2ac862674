-- Timelines of other services that arrive: rows of other tables under these numbers belong to a bundle of which not all is
-- there yet. Only numbers below zero are in it, and none of a timeline that stands or has ended. Nobody finds a timeline by
-- this table, so a row here neither shows nor hides one. The row goes in the step that makes the timeline stand, or after
-- the last of the rows that arrived. Timelines of one bundle have the same `arrival`. `until` is for databases that several
-- services share. Once `is_over` says that nobody goes on with it, nothing is added and the timeline never stands.
CREATE TABLE arrivals (
    timeline    INTEGER PRIMARY KEY,
    timeline_id TEXT    NOT NULL,
    arrival     TEXT    NOT NULL,
    until       INTEGER NOT NULL,
    is_over     INTEGER NOT NULL
) STRICT;

-- A version of an event is found by its position too: an event may have many.
DROP INDEX events_by_id;
CREATE INDEX events_by_id ON events (timeline, event_id, position);
