-- The feed of events. An event gets its number after the commit of its change: whoever reads the feed locks its one row and
-- numbers what was committed, as numbering.go says. Writers never wait for that lock.
CREATE TABLE feed (
    single  boolean PRIMARY KEY DEFAULT true CHECK (single), -- so that there is only one row
    name    text    NOT NULL, -- four random letters or digits
    trimmed bigint  NOT NULL, -- the sequence of the newest event that was removed
    last    bigint  NOT NULL, -- the sequence of the newest event
    bytes   bigint  NOT NULL  -- how many bytes of records the feed has had so far
);
INSERT INTO feed (name, trimmed, last, bytes)
SELECT string_agg(substr('0123456789abcdefghijklmnopqrstuvwxyz', 1 + floor(random() * 36)::integer, 1), ''), 0, 0, 0
FROM generate_series(1, 4);

-- The events of a transaction, in one row unless they are very many. Sequences are dense. Times are milliseconds since 1970.
CREATE TABLE events (
    first  bigint  PRIMARY KEY, -- the sequence of the first event
    start  bigint  NOT NULL,    -- how many bytes of records the feed had before this row
    at     bigint  NOT NULL,
    low    bigint,              -- low and high are the lowest and the highest id of the animals that were created, if there
    high   bigint,              -- are any, and are less than 1,000 apart
    n      integer NOT NULL,
    record text    NOT NULL     -- internal/petstore/event_record.go describes it
);
CREATE INDEX events_creating ON events (low, high) WHERE low IS NOT NULL;

-- The events of each animal, except its creation, which low and high find. The events of copied rows are all here.
CREATE TABLE event_pets (
    pet_id   bigint NOT NULL,
    sequence bigint NOT NULL,
    PRIMARY KEY (pet_id, sequence)
);

-- The events that have no number yet. The slips of a transaction are those with its id. Their record stays in one piece and
-- uncompressed, because that is the fastest to write.
CREATE TABLE event_slips (
    id     bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    xid    xid8    NOT NULL DEFAULT pg_current_xact_id(),
    at     bigint  NOT NULL DEFAULT floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint,
    low    bigint, -- low and high are as in the table events, if all events of the slip are creations
    high   bigint,
    erases boolean NOT NULL DEFAULT false, -- removes a reference, which numbering.go then removes from the whole feed
    n      integer NOT NULL,
    record text    NOT NULL
) WITH (toast_tuple_target = 8160);
ALTER TABLE event_slips ALTER COLUMN record SET STORAGE EXTERNAL;

-- Servers of the previous version make events too, so the triggers write the slips: at most 1,000 events each, of changes that
-- changed something. A copy sets petstore.copying, because it copies the events as well.
CREATE FUNCTION events_wanted() RETURNS boolean STABLE LANGUAGE sql AS $$
    SELECT current_setting('petstore.copying', true) IS DISTINCT FROM 'on'
$$;

-- count_pets has the trigger of every statement that changes animals. One function does all that follows from such a
-- statement, because every further trigger would slow down the writes.
ALTER FUNCTION count_pets() RENAME TO note_pets;
CREATE OR REPLACE FUNCTION note_pets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO inventory (status, delta) SELECT status, count(*) FROM added GROUP BY status;
        INSERT INTO marked_blocks (block) SELECT DISTINCT id / 64 FROM added;
        INSERT INTO event_slips (low, high, n, record)
        SELECT min(id), max(id), count(*),
            '[' || string_agg('[1,' || id || ',' || to_json(name)::text || ',' || category_id || ',' || status || ']', ',') || ']'
        FROM added WHERE events_wanted() GROUP BY id / 1000;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO inventory (status, delta) SELECT status, -count(*) FROM removed GROUP BY status;
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
        ), counted AS (
            INSERT INTO inventory (status, delta)
            SELECT status, sum(n) FROM (
                SELECT status, 1 AS n FROM changed WHERE status <> old_status
                UNION ALL SELECT old_status, -1 FROM changed WHERE status <> old_status
            ) AS moved GROUP BY status HAVING sum(n) <> 0
        ), marked AS (
            INSERT INTO marked_blocks (block)
            SELECT DISTINCT id / 64 FROM changed WHERE (name, category_id) <> (old_name, old_category_id)
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
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION note_orders() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO event_slips (n, record)
        SELECT count(*), '[' || string_agg(event, ',') || ']' FROM (
            SELECT '[5,' || id || ',' || pet_id || ',' || status || ',' || to_json(reference)::text
                    || ',' || created_at || ',' || expires_at || ',' || coalesce(closed_at::text, 'null') || ']' AS event,
                (row_number() OVER () - 1) / 1000 AS slip
            FROM added
        ) AS placed GROUP BY slip;
    ELSE
        INSERT INTO event_slips (erases, n, record)
        SELECT bool_or(erases), count(*), '[' || string_agg(event, ',') || ']' FROM (
            SELECT '[' || CASE WHEN is_update THEN 6 ELSE added.status + 5 END
                    || ',' || id || ',' || added.pet_id || ',' || added.status || ',' || to_json(added.reference)::text
                    || ',' || added.created_at || ',' || added.expires_at || ',' || coalesce(added.closed_at::text, 'null')
                    || CASE WHEN is_update THEN
                        ',' || CASE WHEN erases OR added.reference = removed.reference THEN 'null' ELSE to_json(removed.reference)::text END
                        || ',' || coalesce(nullif(removed.expires_at, added.expires_at)::text, 'null')
                        ELSE '' END
                    || ']' AS event,
                erases,
                (row_number() OVER () - 1) / 1000 AS slip
            FROM added JOIN removed USING (id),
                LATERAL (SELECT added.status IN (1, removed.status) AS is_update, added.reference = '' AND removed.reference <> '' AS erases) AS change
            WHERE (removed.status, removed.reference, removed.expires_at)
                IS DISTINCT FROM (added.status, added.reference, added.expires_at)
        ) AS changed GROUP BY slip;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER orders_added AFTER INSERT ON orders REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT WHEN (events_wanted()) EXECUTE FUNCTION note_orders();
CREATE TRIGGER orders_changed AFTER UPDATE ON orders REFERENCING OLD TABLE AS removed NEW TABLE AS added
    FOR EACH STATEMENT WHEN (events_wanted()) EXECUTE FUNCTION note_orders();

CREATE FUNCTION note_category() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO event_slips (n, record) VALUES (1, CASE TG_OP
        WHEN 'INSERT' THEN '[[10,' || NEW.id || ',' || to_json(NEW.name)::text || ']]'
        WHEN 'UPDATE' THEN '[[11,' || NEW.id || ',' || to_json(NEW.name)::text || ',' || to_json(OLD.name)::text || ']]'
        ELSE '[[12,' || OLD.id || ',' || to_json(OLD.name)::text || ']]' END);
    RETURN NULL;
END $$;

CREATE TRIGGER category_added AFTER INSERT ON categories
    FOR EACH ROW WHEN (events_wanted()) EXECUTE FUNCTION note_category();
CREATE TRIGGER category_changed AFTER UPDATE ON categories
    FOR EACH ROW WHEN (OLD.name <> NEW.name AND events_wanted()) EXECUTE FUNCTION note_category();
CREATE TRIGGER category_removed AFTER DELETE ON categories
    FOR EACH ROW WHEN (events_wanted()) EXECUTE FUNCTION note_category();
