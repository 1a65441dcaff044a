-- What a key may do, when it was replaced, and when it was last used (to the hour). A key with a younger one of the same
-- owner was replaced when that was made.
ALTER TABLE keys ADD COLUMN access TEXT NOT NULL DEFAULT 'write' CHECK (access IN ('read', 'write'));
ALTER TABLE keys ADD COLUMN rotated_at INTEGER;
ALTER TABLE keys ADD COLUMN last_used_at INTEGER;
UPDATE keys SET rotated_at = (SELECT min(created_at) FROM keys AS next WHERE next.owner = keys.owner AND next.created_at > keys.created_at);

-- A name for a number that animals carry. UNIQUE compares code points.
CREATE TABLE categories (
    id   INTEGER PRIMARY KEY,
    name TEXT    NOT NULL UNIQUE
) STRICT;

-- One row from the first createCategory on: the number it takes next, unless that has a name.
CREATE TABLE category_counter (
    next INTEGER NOT NULL
) STRICT;

-- Times are milliseconds since 1970. A closed order keeps the number of an animal that may be gone.
CREATE TABLE orders (
    id         INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id < 9007199254740992),
    pet_id     INTEGER NOT NULL,
    status     INTEGER NOT NULL CHECK (status BETWEEN 1 AND 4), -- open, completed, cancelled, expired
    reference  TEXT    NOT NULL, -- empty for none
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    closed_at  INTEGER CHECK ((closed_at IS NULL) = (status = 1))
) STRICT;

CREATE UNIQUE INDEX orders_holding ON orders (pet_id) WHERE status = 1;
CREATE INDEX orders_by_end ON orders (expires_at) WHERE status = 1;
CREATE INDEX orders_by_status ON orders (status, id);
CREATE INDEX orders_by_pet ON orders (pet_id, id);

-- How many animals of each status there are. The writer adds what each transaction changed.
CREATE TABLE inventory (
    status  INTEGER PRIMARY KEY,
    animals INTEGER NOT NULL
) STRICT;
INSERT INTO inventory (status, animals)
SELECT column1, (SELECT count(*) FROM pets WHERE status = column1) FROM (VALUES (1), (2), (3));

-- An idempotency record keeps what was answered, whatever becomes of what was made.
DELETE FROM idempotency WHERE pet_id NOT IN (SELECT id FROM pets);
ALTER TABLE idempotency ADD COLUMN answer TEXT NOT NULL DEFAULT '';
UPDATE idempotency SET answer = (
    SELECT json_object('ID', id, 'Name', name, 'CategoryID', category_id, 'Status', status) FROM pets WHERE id = pet_id);
ALTER TABLE idempotency DROP COLUMN pet_id;
