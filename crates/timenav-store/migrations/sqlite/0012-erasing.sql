-- Of which event an outcome holds the content, so that it can forget it when the event is erased.
ALTER TABLE outcomes ADD COLUMN timeline_id TEXT;
ALTER TABLE outcomes ADD COLUMN event_id TEXT;
UPDATE outcomes SET timeline_id = json_extract(outcome, '$.timeline_id'),
    event_id = json_extract(outcome, '$.change.event_id')
    WHERE json_valid(outcome) AND json_extract(outcome, '$.change.kind') IN ('corrected', 'intervened');
CREATE INDEX outcomes_by_event ON outcomes (timeline_id, event_id) WHERE event_id IS NOT NULL;
