-- The index of words. A block has the words of the events at a range of positions, `first` to `end` (exclusive). Blocks in
-- use cover a timeline from position 0 on without a gap; later events are read without the index. A block is 0 in use,
-- 1 being built, or 2 to be deleted.
CREATE TABLE text_blocks (
    timeline      INTEGER NOT NULL,
    block         INTEGER NOT NULL,
    first         INTEGER NOT NULL,
    end           INTEGER NOT NULL,
    level         INTEGER NOT NULL,
    state         INTEGER NOT NULL,
    words_version INTEGER NOT NULL,
    PRIMARY KEY (timeline, block)
) STRICT, WITHOUT ROWID;

-- The positions of the events of a block that have a folded word, in ascending order. Each is the difference from the
-- one before, or from `first`, in base 128 with the low digits first.
CREATE TABLE text_words (
    timeline  INTEGER NOT NULL,
    block     INTEGER NOT NULL,
    word      TEXT    NOT NULL,
    positions BLOB    NOT NULL,
    PRIMARY KEY (timeline, block, word)
) STRICT, WITHOUT ROWID;

-- The row of a position, and the rows that the index does not cover yet.
CREATE INDEX events_by_position ON events (timeline, position);
