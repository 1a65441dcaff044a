-- Servers of the previous version may still create animals. They lock these tables in the same order, so nothing blocks, and
-- no animal is created between the count of the animals and the triggers.
LOCK TABLE idempotency IN ACCESS EXCLUSIVE MODE;
LOCK TABLE pets IN SHARE ROW EXCLUSIVE MODE;

-- What a key may do, when it was rotated, and the hour of its last use. If its owner has a younger key, a key was rotated
-- when the younger one was created.
ALTER TABLE keys
    ADD COLUMN access       text NOT NULL DEFAULT 'write' CHECK (access IN ('read', 'write')),
    ADD COLUMN rotated_at   bigint,
    ADD COLUMN last_used_at bigint;
UPDATE keys SET rotated_at = (SELECT min(created_at) FROM keys AS next WHERE next.owner = keys.owner AND next.created_at > keys.created_at);

-- The names of the category numbers of animals, compared by code point.
CREATE TABLE categories (
    id   bigint PRIMARY KEY,
    name text   COLLATE "C" NOT NULL UNIQUE
);

-- Has one row from the first createCategory on: the number to take next, unless that number has a name by then.
CREATE TABLE category_counter (
    single boolean PRIMARY KEY DEFAULT true CHECK (single), -- so that there is only one row
    next   bigint  NOT NULL
);

-- Times are milliseconds since 1970. The animal of a closed order may have been deleted.
CREATE TABLE orders (
    id         bigint   GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME orders_id MAXVALUE 9007199254740991) PRIMARY KEY,
    pet_id     bigint   NOT NULL,
    status     smallint NOT NULL CHECK (status BETWEEN 1 AND 4), -- open, completed, cancelled, expired
    reference  text     NOT NULL, -- empty if there is none
    created_at bigint   NOT NULL,
    expires_at bigint   NOT NULL,
    closed_at  bigint   CHECK ((closed_at IS NULL) = (status = 1))
);

CREATE UNIQUE INDEX orders_holding ON orders (pet_id) WHERE status = 1;
CREATE INDEX orders_by_end ON orders (expires_at) WHERE status = 1;
CREATE INDEX orders_by_status ON orders (status, id);
CREATE INDEX orders_by_pet ON orders (pet_id, id);

-- The number of animals of a status is the sum of its deltas. Every statement that changes animals appends its own deltas, so
-- that replicas never wait for each other. Upkeep later replaces them by their sums.
CREATE TABLE inventory (
    status smallint NOT NULL,
    delta  bigint   NOT NULL
);
INSERT INTO inventory (status, delta) SELECT status, count(*) FROM pets GROUP BY status;

CREATE FUNCTION count_pets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO inventory SELECT status, count(*) FROM added GROUP BY status;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO inventory SELECT status, -count(*) FROM removed GROUP BY status;
    ELSE
        INSERT INTO inventory
        SELECT status, sum(n) FROM (
            SELECT status, 1 AS n FROM added UNION ALL SELECT status, -1 FROM removed
        ) AS changes GROUP BY status HAVING sum(n) <> 0;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER pets_added AFTER INSERT ON pets REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_pets();
CREATE TRIGGER pets_removed AFTER DELETE ON pets REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION count_pets();
CREATE TRIGGER pets_changed AFTER UPDATE ON pets REFERENCING OLD TABLE AS removed NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_pets();

-- An idempotency record keeps the answer, whatever becomes of the thing that was created.
DELETE FROM idempotency WHERE NOT EXISTS (SELECT FROM pets WHERE id = pet_id);
ALTER TABLE idempotency ADD COLUMN answer text NOT NULL DEFAULT '';
UPDATE idempotency SET answer = (
    SELECT json_build_object('ID', id, 'Name', name, 'CategoryID', category_id, 'Status', status) FROM pets WHERE id = pet_id);
ALTER TABLE idempotency DROP COLUMN pet_id;
