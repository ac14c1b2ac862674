-- The words of each event, for searches by `text`: one row for each row of `events`, which the service adds in the same
-- transaction. A lexeme is the number of the timeline, a colon and a folded word, so that a word selects the events of one
-- timeline. The key begins with the position: by timeline, a search would read all of its rows.
CREATE TABLE event_words (
    position bigint   NOT NULL,
    timeline bigint   NOT NULL,
    time     bigint   NOT NULL,
    words    tsvector NOT NULL,
    PRIMARY KEY (position, timeline)
);
-- A small pending list, because each search reads all of it.
CREATE INDEX event_words_by_word ON event_words USING gin (words) WITH (gin_pending_list_limit = 1024);
