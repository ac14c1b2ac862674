-- Data sealed under its owner's key. `position` is that of the entry that tells of the record, whose
-- payload holds the SHA-256 of format, kind, salt, nonce, commitment and ciphertext in this order.
-- `erased` is the position of the entry that erased it; salt, nonce, commitment and ciphertext are
-- of length zero then.
CREATE TABLE data_records (
    data_id    TEXT    NOT NULL PRIMARY KEY,
    timeline   INTEGER NOT NULL,
    position   INTEGER NOT NULL,
    erased     INTEGER,
    format     INTEGER NOT NULL,
    kind       INTEGER NOT NULL,
    salt       BLOB    NOT NULL,
    nonce      BLOB    NOT NULL,
    commitment BLOB    NOT NULL,
    ciphertext BLOB    NOT NULL
) STRICT;
CREATE UNIQUE INDEX data_records_by_position ON data_records (timeline, position);

-- From this step on, `entries.salt` and `entries.payload` of an erased event are of length zero: both
-- columns are NOT NULL, and no entry has an empty payload otherwise. A later entry `erase_data` names
-- the position. The row in `events` is gone.
