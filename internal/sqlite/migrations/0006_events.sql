-- Has one row: the name of the feed, which is random, and the sequence of the newest event that was removed.
CREATE TABLE feed (
    name    TEXT    NOT NULL,
    trimmed INTEGER NOT NULL
) STRICT;
INSERT INTO feed (name, trimmed)
SELECT group_concat(substr('0123456789abcdefghijklmnopqrstuvwxyz', 1 + abs(random() % 36), 1), ''), 0
FROM (VALUES (1), (2), (3), (4));

-- The events of a commit, in one row unless they are very many. Sequences are dense.
CREATE TABLE events (
    first  INTEGER PRIMARY KEY, -- the sequence of the first event
    n      INTEGER NOT NULL,
    at     INTEGER NOT NULL, -- milliseconds since 1970
    low    INTEGER, -- low and high are the lowest and the highest id of the animals that were created, if there are any
    high   INTEGER,
    start  INTEGER NOT NULL, -- how many bytes of records the feed had before this row
    record TEXT    NOT NULL
) STRICT;

-- Ids ascend, so the ranges of two rows never overlap.
CREATE INDEX events_creating ON events (low) WHERE low IS NOT NULL;

-- The events of each animal, except its creation, which low and high find. The events of copied rows are all here.
CREATE TABLE event_pets (
    pet_id   INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (pet_id, sequence)
) STRICT, WITHOUT ROWID;
