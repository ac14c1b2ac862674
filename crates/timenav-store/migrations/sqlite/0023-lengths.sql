-- How long each event lasts: the binary logarithm of its microseconds, rounded down; NULL where it has no end, or lasts no
-- time. Whoever asks for what lasts into a range looks, class by class, at those alone that began at most so long before it.
-- The service gives the function to the connection that takes this step.
ALTER TABLE events ADD COLUMN length_class INTEGER;
UPDATE events SET length_class = length_class_of(content) WHERE instr(content, '"end_time"') > 0;
CREATE INDEX events_by_length ON events (timeline, length_class, time, position) WHERE length_class IS NOT NULL;
