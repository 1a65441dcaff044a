-- The URLs to which events are delivered. Times are in milliseconds since 1970.
CREATE TABLE webhooks (
    id            TEXT    PRIMARY KEY,
    url           TEXT    NOT NULL,
    types         TEXT    NOT NULL, -- a JSON array of words, such as pet.*
    description   TEXT    NOT NULL, -- '' if there is none
    created_at    INTEGER NOT NULL,
    enabled       INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    reason        TEXT    NOT NULL, -- '' if there is none
    -- The secrets are stored as they are, because they sign the deliveries: a hash cannot do that. Whoever reads this file or
    -- a backup of it can sign as the store does.
    secret        TEXT    NOT NULL,
    old_secret    TEXT    NOT NULL,
    old_until     INTEGER,
    version       INTEGER NOT NULL,
    position      INTEGER NOT NULL, -- the sequence of the newest event that was delivered or skipped
    confirmed     INTEGER NOT NULL CHECK (confirmed IN (0, 1)),
    failing_since INTEGER,
    failures      INTEGER NOT NULL,
    rejections    INTEGER NOT NULL,
    next_attempt  INTEGER,
    holder        TEXT    NOT NULL DEFAULT '', -- the process that delivers, until held_until
    held_until    INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The attempts to deliver. Later ones have higher ids.
CREATE TABLE webhook_deliveries (
    webhook_id   TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    event_id     TEXT    NOT NULL,
    at           INTEGER NOT NULL,
    status       INTEGER NOT NULL, -- 0 if there was no answer
    milliseconds INTEGER NOT NULL,
    error        TEXT    NOT NULL,
    skipped      INTEGER NOT NULL CHECK (skipped IN (0, 1)),
    PRIMARY KEY (webhook_id, id)
) STRICT, WITHOUT ROWID;

-- Checkpoints of the feed: how many events of each type there were up to that sequence. They tell how far a webhook is behind
-- without a look at every event.
CREATE TABLE event_counts (
    sequence INTEGER PRIMARY KEY,
    counts   TEXT    NOT NULL -- a JSON array, by the number of the type
) STRICT;
