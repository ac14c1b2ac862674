-- When a timeline is deleted, its outcomes are found without a scan of all others.
CREATE INDEX outcomes_by_timeline ON outcomes (iif(json_valid(outcome), json_extract(outcome, '$.timeline_id'), NULL));
