-- What a key may do, when it was rotated, and the hour of its last use. If its owner has a younger key, a key was rotated
-- when the younger one was created.
ALTER TABLE keys ADD COLUMN access TEXT NOT NULL DEFAULT 'write' CHECK (access IN ('read', 'write'));
ALTER TABLE keys ADD COLUMN rotated_at INTEGER;
ALTER TABLE keys ADD COLUMN last_used_at INTEGER;
UPDATE keys SET rotated_at = (SELECT min(created_at) FROM keys AS next WHERE next.owner = keys.owner AND next.created_at > keys.created_at);

-- The names of the category numbers of animals. UNIQUE compares names by code point.
CREATE TABLE categories (
    id   INTEGER PRIMARY KEY,
    name TEXT    NOT NULL UNIQUE
) STRICT;

-- Has one row from the first createCategory on: the number to take next, unless that number has a name by then.
CREATE TABLE category_counter (
    next INTEGER NOT NULL
) STRICT;

-- Times are milliseconds since 1970. The animal of a closed order may have been deleted.
CREATE TABLE orders (
    id         INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id < 9007199254740992),
    pet_id     INTEGER NOT NULL,
    status     INTEGER NOT NULL CHECK (status BETWEEN 1 AND 4), -- open, completed, cancelled, expired
    reference  TEXT    NOT NULL, -- empty if there is none
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    closed_at  INTEGER CHECK ((closed_at IS NULL) = (status = 1))
) STRICT;

CREATE UNIQUE INDEX orders_holding ON orders (pet_id) WHERE status = 1;
CREATE INDEX orders_by_end ON orders (expires_at) WHERE status = 1;
CREATE INDEX orders_by_status ON orders (status, id);
CREATE INDEX orders_by_pet ON orders (pet_id, id);

-- The number of animals by status. The writer adds what each transaction has changed.
CREATE TABLE inventory (
    status  INTEGER PRIMARY KEY,
    animals INTEGER NOT NULL
) STRICT;
INSERT INTO inventory (status, animals)
SELECT column1, (SELECT count(*) FROM pets WHERE status = column1) FROM (VALUES (1), (2), (3));

-- An idempotency record keeps the answer, whatever becomes of the thing that was created.
DELETE FROM idempotency WHERE pet_id NOT IN (SELECT id FROM pets);
ALTER TABLE idempotency ADD COLUMN answer TEXT NOT NULL DEFAULT '';
UPDATE idempotency SET answer = (
    SELECT json_object('ID', id, 'Name', name, 'CategoryID', category_id, 'Status', status) FROM pets WHERE id = pet_id);
ALTER TABLE idempotency DROP COLUMN pet_id;
