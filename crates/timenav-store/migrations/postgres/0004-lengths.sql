-- How long each event lasts: the binary logarithm of its microseconds, rounded down; NULL where it has no end, or lasts no
-- time. Whoever asks for what lasts into a range looks, class by class, at those alone that began at most so long before it.
-- The service fills it in the same transaction.
ALTER TABLE events ADD COLUMN length_class smallint;
CREATE INDEX events_by_length ON events (timeline, length_class, time, position) WHERE length_class IS NOT NULL;
