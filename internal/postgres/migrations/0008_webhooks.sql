-- The URLs to which events are delivered. Times are in milliseconds since 1970.
CREATE TABLE webhooks (
    id            text    COLLATE "C" PRIMARY KEY,
    url           text    NOT NULL,
    types         text[]  NOT NULL, -- words, such as pet.*
    description   text    NOT NULL, -- '' if there is none
    created_at    bigint  NOT NULL,
    enabled       boolean NOT NULL,
    reason        text    NOT NULL, -- '' if there is none
    -- The secrets are stored as they are, because they sign the deliveries: a hash cannot do that. Whoever reads this table or
    -- a backup of it can sign as the store does.
    secret        text    NOT NULL,
    old_secret    text    NOT NULL,
    old_until     bigint,
    version       bigint  NOT NULL,
    position      bigint  NOT NULL, -- the sequence of the newest event that was delivered or skipped
    confirmed     boolean NOT NULL,
    failing_since bigint,
    failures      integer NOT NULL,
    rejections    integer NOT NULL,
    next_attempt  bigint,
    holder        text    NOT NULL DEFAULT '', -- the process that delivers, until held_until
    held_until    bigint  NOT NULL DEFAULT 0
) WITH (fillfactor = 50); -- room for new versions of the rows, which change every second

-- The attempts to deliver. Later ones have higher ids.
CREATE TABLE webhook_deliveries (
    webhook_id   text    COLLATE "C" NOT NULL REFERENCES webhooks ON DELETE CASCADE,
    id           text    COLLATE "C" NOT NULL,
    event_id     text    NOT NULL,
    at           bigint  NOT NULL,
    status       integer NOT NULL, -- 0 if there was no answer
    milliseconds bigint  NOT NULL,
    error        text    NOT NULL,
    skipped      boolean NOT NULL,
    PRIMARY KEY (webhook_id, id)
);

-- Checkpoints of the feed: how many events of each type there were up to that sequence. They tell how far a webhook is behind
-- without a look at every event.
CREATE TABLE event_counts (
    sequence bigint PRIMARY KEY,
    counts   text   NOT NULL -- a JSON array, by the number of the type
);
