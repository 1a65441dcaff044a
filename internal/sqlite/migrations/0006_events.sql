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
    high   INTEGER NOT NULL, -- the highest id of the animals that were created in this row or before; see event_pets
    start  INTEGER NOT NULL, -- how many bytes of records the feed had before this row
    record TEXT    NOT NULL
) STRICT;

-- The events of each animal, except its creation. Because ids ascend, an animal was created in the first row whose high is not
-- below its id, unless that row was copied: the events of copied rows are all here, and do not raise high.
CREATE TABLE event_pets (
    pet_id   INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (pet_id, sequence)
) STRICT, WITHOUT ROWID;
