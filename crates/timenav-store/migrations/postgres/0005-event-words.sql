-- The words of each event, for searches by `text`: one row for each row of `events`, added in the same transaction. The
-- lexemes are folded words, without positions.
CREATE TABLE event_words (
    timeline bigint   NOT NULL,
    position bigint   NOT NULL,
    time     bigint   NOT NULL,
    words    tsvector NOT NULL,
    PRIMARY KEY (timeline, position)
);
