-- Servers of the previous version may be writing. Some of their transactions lock pets before orders and some the other way
-- round, so this one must not wait for one table while it holds another. It has both for all the migrations that follow.
DO $$
BEGIN
    LOOP
        BEGIN
            LOCK TABLE pets IN SHARE ROW EXCLUSIVE MODE;
            LOCK TABLE orders, categories IN SHARE ROW EXCLUSIVE MODE NOWAIT;
            EXIT;
        EXCEPTION WHEN lock_not_available THEN -- gives back the lock on pets
            PERFORM pg_sleep(0.01);
        END;
    END LOOP;
END $$;

-- With a primary key, a publication for logical replication can send deletes, such as those of folding.
ALTER TABLE inventory ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY;
