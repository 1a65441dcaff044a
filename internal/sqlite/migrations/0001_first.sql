CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- With AUTOINCREMENT, no id is ever reused. Below 2^53, JavaScript clients read an id exactly.
CREATE TABLE pets (
    id          INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id < 9007199254740992),
    name        TEXT    NOT NULL,
    category_id INTEGER NOT NULL,
    status      INTEGER NOT NULL CHECK (status BETWEEN 1 AND 3) -- available, pending, sold
) STRICT;

-- Has every column that a list by status shows, so that such a list never reads the table.
CREATE INDEX pets_by_status ON pets (status, id, name, category_id);

-- Times are milliseconds since 1970; NULL means never.
CREATE TABLE keys (
    id         TEXT    PRIMARY KEY,
    hash       BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
    name       TEXT    NOT NULL,
    owner      TEXT    NOT NULL,
    plan       TEXT    NOT NULL,
    per_minute INTEGER NOT NULL,
    per_day    INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    lifetime   INTEGER NOT NULL, -- in milliseconds; 0 means forever
    expires_at INTEGER,
    revoked_at INTEGER
) STRICT;

CREATE INDEX keys_by_owner ON keys (owner);

CREATE TABLE bans (
    owner      TEXT    PRIMARY KEY,
    started_at INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL,
    streak     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
    owner       TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    pet_id      INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (owner, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_by_age ON idempotency (created_at);
