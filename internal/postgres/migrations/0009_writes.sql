-- What follows from a write costs less: it adds to a row of the inventory, and an animal that changes marks itself, not its block.

-- A mark with an animal says that only this animal of the block has changed. Servers of the previous version store the words of
-- the whole block then.
ALTER TABLE marked_blocks ADD COLUMN pet_id bigint;

-- The words of an animal that changed are added to those of its block. The words that it no longer has are removed when the
-- block has more than twice as many words as when they were made from all its animals.
ALTER TABLE block_words ADD COLUMN made integer NOT NULL DEFAULT 0;

CREATE OR REPLACE FUNCTION mark_changed_breed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO marked_blocks (block, pet_id) VALUES (NEW.pet_id / 64, NEW.pet_id);
    RETURN NULL;
END $$;

-- Adds to a row that no other transaction has locked, so that nobody waits. If there is none, it adds a row, so there are at
-- most as many rows as there are concurrent transactions. No column with an index changes, so PostgreSQL clears away the
-- old versions of a row without a vacuum.
CREATE FUNCTION add_to_inventory(which smallint, n bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE inventory SET delta = delta + n
    WHERE id = (SELECT id FROM inventory WHERE status = which LIMIT 1 FOR UPDATE SKIP LOCKED);
    IF NOT FOUND THEN
        INSERT INTO inventory (status, delta) VALUES (which, n);
    END IF;
END $$;

CREATE OR REPLACE FUNCTION note_pets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM add_to_inventory(status, count(*)) FROM added GROUP BY status;
        INSERT INTO marked_blocks (block) SELECT DISTINCT id / 64 FROM added;
        INSERT INTO event_slips (low, high, n, record)
        SELECT min(id), max(id), count(*),
            '[' || string_agg('[1,' || id || ',' || to_json(name)::text || ',' || category_id || ',' || status || ']', ',') || ']'
        FROM added WHERE events_wanted() GROUP BY id / 1000;
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM add_to_inventory(status, -count(*)) FROM removed GROUP BY status;
        INSERT INTO event_slips (n, record)
        SELECT count(*), '[' || string_agg(event, ',') || ']' FROM (
            SELECT '[3,' || id || ',' || to_json(name)::text || ',' || category_id || ',' || status || ']' AS event,
                (row_number() OVER () - 1) / 1000 AS slip
            FROM removed
        ) AS deleted WHERE events_wanted() GROUP BY slip;
    ELSE
        WITH changed AS MATERIALIZED (
            SELECT id, added.name, added.category_id, added.status,
                removed.name AS old_name, removed.category_id AS old_category_id, removed.status AS old_status
            FROM added JOIN removed USING (id)
            WHERE (removed.name, removed.category_id, removed.status)
                IS DISTINCT FROM (added.name, added.category_id, added.status)
        ), marked AS (
            INSERT INTO marked_blocks (block, pet_id)
            SELECT id / 64, id FROM changed WHERE (name, category_id) <> (old_name, old_category_id)
        )
        INSERT INTO event_slips (n, record)
        SELECT count(*), '[' || string_agg(event, ',') || ']' FROM (
            SELECT '[2,' || id || ',' || to_json(name)::text || ',' || category_id || ',' || status
                    || ',' || coalesce(to_json(nullif(old_name, name))::text, 'null')
                    || ',' || coalesce(nullif(old_category_id, category_id)::text, 'null')
                    || ',' || coalesce(nullif(old_status, status)::text, 'null') || ']' AS event,
                (row_number() OVER () - 1) / 1000 AS slip
            FROM changed
        ) AS updated WHERE events_wanted() GROUP BY slip;

        PERFORM add_to_inventory(status, sum(n)) FROM (
            SELECT status, 1 AS n FROM added UNION ALL SELECT status, -1 FROM removed
        ) AS moved GROUP BY status HAVING sum(n) <> 0;
    END IF;
    RETURN NULL;
END $$;
