-- Whose entries a ledger begins with, where the timeline was adopted: a line each, the position of the entry that ends them,
-- a space, and the name of the ledger at the other service. It follows from the entries `adopt`.
ALTER TABLE timelines ADD COLUMN origins TEXT NOT NULL DEFAULT '';

-- Checkpoints that both keys have signed where one took the place of the other, by the position of the entry that tells of
-- it. They are carried in bundles, and proven by their signatures.
CREATE TABLE rotation_notes (
    timeline INTEGER NOT NULL,
    position INTEGER NOT NULL,
    note     TEXT    NOT NULL,
    PRIMARY KEY (timeline, position)
) STRICT, WITHOUT ROWID;
