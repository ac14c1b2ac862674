-- No seal stands in a single row any more: the head statement of `system` signs all rows together. A database that has
-- none yet keeps the seals that it was written with, until it has.
CREATE TABLE carried_seals (
    kind TEXT NOT NULL,
    id   TEXT NOT NULL,
    seal BLOB NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
INSERT INTO carried_seals
    SELECT 'password', user_id, seal FROM passwords
    WHERE EXISTS (SELECT 1 FROM timelines WHERE timeline_id = 'system' AND statement = x'');
INSERT INTO carried_seals
    SELECT 'session', session_id, seal FROM sessions
    WHERE EXISTS (SELECT 1 FROM timelines WHERE timeline_id = 'system' AND statement = x'');
ALTER TABLE passwords DROP COLUMN seal;
ALTER TABLE sessions DROP COLUMN seal;
