-- The file says whose it is: "TNAV" in ASCII.
PRAGMA application_id = 1414414678;

-- What is written here shows that there is room, and is taken away again. A former version made the
-- table when it needed it, and a crash may have left it.
DROP TABLE IF EXISTS room;
CREATE TABLE room (
    filling BLOB NOT NULL
) STRICT;
