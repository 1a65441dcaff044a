-- A search looks for words in blocks of 64 consecutive ids. A block has every word of the names and breeds of its animals,
-- and a word for each of their categories. So a block without the words of a search has no animal that matches; any other
-- block must be read. The words come from the program. A server that knows nothing of them still marks what it writes, by the
-- triggers below, and by note_pets in the migration of events.

-- A tuple stays in one piece up to this size, because reading the words in pieces takes several times as long.
CREATE TABLE block_words (
    block bigint   PRIMARY KEY, -- the ids of its animals, divided by 64
    words tsvector NOT NULL
) WITH (toast_tuple_target = 8160);

CREATE INDEX block_words_by_word ON block_words USING gin (words) WITH (fastupdate = off);

-- The blocks that changed since their words were stored. A block can be marked more than once, so that no writer waits for
-- another one.
CREATE TABLE marked_blocks (
    block bigint NOT NULL,
    id    bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (block, id)
);

-- words_version is the version of the rules by which the words were made. The blocks before words_from have no words yet,
-- whether they are marked or not.
INSERT INTO settings (name, value) VALUES ('words_version', '0'), ('words_from', '0');

CREATE FUNCTION mark_changed_breed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO marked_blocks (block) VALUES (NEW.pet_id / 64);
    RETURN NULL;
END $$;

CREATE TRIGGER breed_added_to_block AFTER INSERT ON profiles
    FOR EACH ROW WHEN (NEW.breed <> '') EXECUTE FUNCTION mark_changed_breed();
CREATE TRIGGER breed_changed_in_block AFTER UPDATE OF breed ON profiles
    FOR EACH ROW WHEN (OLD.breed <> NEW.breed) EXECUTE FUNCTION mark_changed_breed();
