-- Who follows clocks under a name, at which service: the streams that are open. As all that tells who is at work, it is in
-- no ledger, and a server that comes back from a crash has forgotten it; each service tells it anew. `since` and
-- `confirmed_at` are by the clocks of the services' hosts, and only told. The last three are null where nothing was
-- confirmed.
CREATE UNLOGGED TABLE followers (
    follower_id  text    COLLATE "C" NOT NULL PRIMARY KEY,
    service      text    COLLATE "C" NOT NULL,
    timeline     bigint  NOT NULL,
    user_id      text    COLLATE "C" NOT NULL,
    name         text    COLLATE "C" NOT NULL,
    steps        boolean NOT NULL,
    since        bigint  NOT NULL,
    generation   bigint,
    step         bigint,
    confirmed_at bigint
) WITH (fillfactor = 50);
CREATE INDEX followers_by_timeline ON followers (timeline);
