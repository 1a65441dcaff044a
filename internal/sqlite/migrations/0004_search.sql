-- The words of the animals up to word_index.upto, from their names and breeds, and a term for the category of each. The
-- prefix lists are what a search reads newest first. The table stores no text, and no search relies on it alone: each animal
-- that it names is compared.
CREATE VIRTUAL TABLE pet_words USING fts5 (
    words, content = '', columnsize = 0, detail = none, tokenize = 'ascii', prefix = '1 2 3 4 5 6 7 8 10 12 16 24'
);

-- The indexer itself merges the segments of the index, a few pages at a time, so that no commit waits for a long merge.
INSERT INTO pet_words (pet_words, rank) VALUES ('automerge', 0), ('crisismerge', 1000), ('usermerge', 4);

-- Has one row: the highest id whose animal is indexed, and the version of the rules by which words were made.
CREATE TABLE word_index (
    upto  INTEGER NOT NULL,
    rules INTEGER NOT NULL
) STRICT;
INSERT INTO word_index (upto, rules) VALUES (0, 0);

-- The indexed animals whose name, breed or category has changed since, or that are gone: what the index still says about
-- them. All three are NULL if the index says nothing.
CREATE TABLE stale_words (
    id          INTEGER PRIMARY KEY,
    name        TEXT,
    breed       TEXT,
    category_id INTEGER
) STRICT;

-- Of several changes the first one counts, because the index has what was there before it.
CREATE TRIGGER pets_renamed AFTER UPDATE OF name, category_id ON pets
WHEN new.name IS NOT old.name OR new.category_id IS NOT old.category_id
BEGIN
    INSERT INTO stale_words (id, name, breed, category_id)
    SELECT old.id, old.name, coalesce((SELECT breed FROM profiles WHERE pet_id = old.id), ''), old.category_id
    FROM word_index WHERE old.id <= upto
    ON CONFLICT (id) DO NOTHING;
END;

CREATE TRIGGER pets_deleted AFTER DELETE ON pets
BEGIN
    INSERT INTO stale_words (id, name, breed, category_id)
    SELECT old.id, old.name, coalesce((SELECT breed FROM profiles WHERE pet_id = old.id), ''), old.category_id
    FROM word_index WHERE old.id <= upto
    ON CONFLICT (id) DO NOTHING;
END;

CREATE TRIGGER breeds_added AFTER INSERT ON profiles WHEN new.breed <> ''
BEGIN
    INSERT INTO stale_words (id, name, breed, category_id)
    SELECT id, name, '', category_id FROM pets, word_index WHERE id = new.pet_id AND id <= upto
    ON CONFLICT (id) DO NOTHING;
END;

CREATE TRIGGER breeds_changed AFTER UPDATE OF breed ON profiles WHEN new.breed <> old.breed
BEGIN
    INSERT INTO stale_words (id, name, breed, category_id)
    SELECT id, name, old.breed, category_id FROM pets, word_index WHERE id = old.pet_id AND id <= upto
    ON CONFLICT (id) DO NOTHING;
END;

CREATE TRIGGER breeds_deleted AFTER DELETE ON profiles WHEN old.breed <> ''
BEGIN
    INSERT INTO stale_words (id, name, breed, category_id)
    SELECT id, name, old.breed, category_id FROM pets, word_index WHERE id = old.pet_id AND id <= upto
    ON CONFLICT (id) DO NOTHING;
END;
