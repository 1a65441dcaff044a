CREATE TABLE settings (
    name  text PRIMARY KEY,
    value text NOT NULL
);

-- Below 2^53, JavaScript clients read an id exactly.
CREATE TABLE pets (
    id          bigint   GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME pets_id MAXVALUE 9007199254740991) PRIMARY KEY,
    name        text     NOT NULL,
    category_id bigint   NOT NULL,
    status      smallint NOT NULL CHECK (status BETWEEN 1 AND 3) -- available, pending, sold
);

-- The index leaves out the names: 1,000 characters can take 4,000 bytes, and an index entry has room for 2,704. A list by
-- status is just as fast, because the newest animals are side by side in the table.
CREATE INDEX pets_by_status ON pets (status, id);

-- Times are milliseconds since 1970; NULL means never.
CREATE TABLE keys (
    id         text   PRIMARY KEY,
    hash       bytea  NOT NULL UNIQUE CHECK (length(hash) = 32),
    name       text   NOT NULL,
    owner      text   NOT NULL,
    plan       text   NOT NULL,
    per_minute bigint NOT NULL,
    per_day    bigint NOT NULL,
    created_at bigint NOT NULL,
    lifetime   bigint NOT NULL, -- in milliseconds; 0 means forever
    expires_at bigint,
    revoked_at bigint
);

CREATE INDEX keys_by_owner ON keys (owner);

CREATE TABLE bans (
    owner      text    PRIMARY KEY,
    started_at bigint  NOT NULL,
    ends_at    bigint  NOT NULL,
    streak     integer NOT NULL
);

CREATE TABLE idempotency (
    owner       text   NOT NULL,
    key         text   NOT NULL,
    fingerprint bytea  NOT NULL,
    pet_id      bigint NOT NULL,
    created_at  bigint NOT NULL,
    PRIMARY KEY (owner, key)
);

CREATE INDEX idempotency_by_age ON idempotency (created_at);
