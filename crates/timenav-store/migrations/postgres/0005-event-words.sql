-- The words of events, for searches by `text`. Each row has a block of up to 255 events of a timeline, added in the same
-- transaction as the events: their positions and times, and each folded word with the numbers of its events in the
-- block, from 1 on. Blocks do not overlap; `position` is the first one.
CREATE TABLE event_words (
    timeline  bigint   NOT NULL,
    position  bigint   NOT NULL,
    positions bigint[] NOT NULL,
    times     bigint[] NOT NULL,
    words     tsvector NOT NULL,
    PRIMARY KEY (timeline, position)
);
