-- A fork that came from elsewhere brings the sealed records of what it goes on from, under the ids that these have on
-- every other service and in every other fork. So an id is one of its timeline, no longer of the whole file.
CREATE TABLE data_records_by_timeline (
    timeline   INTEGER NOT NULL,
    position   INTEGER NOT NULL,
    data_id    TEXT    NOT NULL,
    erased     INTEGER,
    format     INTEGER NOT NULL,
    kind       INTEGER NOT NULL,
    salt       BLOB    NOT NULL,
    nonce      BLOB    NOT NULL,
    commitment BLOB    NOT NULL,
    ciphertext BLOB    NOT NULL
) STRICT;
INSERT INTO data_records_by_timeline (timeline, position, data_id, erased, format, kind, salt, nonce, commitment,
        ciphertext)
    SELECT timeline, position, data_id, erased, format, kind, salt, nonce, commitment, ciphertext FROM data_records
    ORDER BY timeline, position;
DROP TABLE data_records;
ALTER TABLE data_records_by_timeline RENAME TO data_records;
CREATE UNIQUE INDEX data_records_by_position ON data_records (timeline, position);
CREATE UNIQUE INDEX data_records_by_id ON data_records (data_id, timeline);
