-- Passwords and sessions. What each row is follows from entries of `system`: the digest of `phc` stands there, and
-- `phc` nowhere else. `seal` is a code over the rest of the row under a key that is not in this file: a row that
-- another hand has written lets nobody in.
CREATE TABLE passwords (
    user_id TEXT    PRIMARY KEY,
    phc     TEXT    NOT NULL,
    set_at  INTEGER NOT NULL,
    seal    BLOB    NOT NULL
) STRICT, WITHOUT ROWID;

-- `hash` is the SHA-256 of the secret, which is in the browser alone. Sessions that have ended are gone.
CREATE TABLE sessions (
    session_id TEXT    PRIMARY KEY,
    hash       BLOB    NOT NULL UNIQUE,
    user_id    TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    renewed_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    seal       BLOB    NOT NULL
) STRICT, WITHOUT ROWID;
