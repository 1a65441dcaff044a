-- A key may also be an administrator's. SQLite changes a check only with the whole table.
CREATE TABLE keys_with_admin (
    id           TEXT    PRIMARY KEY,
    hash         BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
    name         TEXT    NOT NULL,
    owner        TEXT    NOT NULL,
    plan         TEXT    NOT NULL,
    per_minute   INTEGER NOT NULL,
    per_day      INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    lifetime     INTEGER NOT NULL, -- in milliseconds; 0 means forever
    expires_at   INTEGER,
    revoked_at   INTEGER,
    access       TEXT    NOT NULL CHECK (access IN ('read', 'write', 'admin')),
    rotated_at   INTEGER,
    last_used_at INTEGER -- the hour
) STRICT;

INSERT INTO keys_with_admin (id, hash, name, owner, plan, per_minute, per_day, created_at, lifetime, expires_at, revoked_at, access, rotated_at, last_used_at)
SELECT id, hash, name, owner, plan, per_minute, per_day, created_at, lifetime, expires_at, revoked_at, access, rotated_at, last_used_at FROM keys;

DROP TABLE keys;
ALTER TABLE keys_with_admin RENAME TO keys;
CREATE INDEX keys_by_owner ON keys (owner);
CREATE INDEX keys_by_age ON keys (created_at, id);

-- The requests of owners by hour, which is in milliseconds since 1970. The hour comes first, so that the rows of the current
-- hour are side by side.
CREATE TABLE usage (
    hour    INTEGER NOT NULL,
    owner   TEXT    NOT NULL,
    passed  INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    PRIMARY KEY (hour, owner)
) STRICT, WITHOUT ROWID;
