-- What is known about an animal beyond its name. A text is empty if it is not known.
CREATE TABLE profiles (
    pet_id      bigint PRIMARY KEY,
    breed       text   NOT NULL,
    sex         text   NOT NULL CHECK (sex IN ('', 'female', 'male')),
    born_on     text   NOT NULL,
    arrived_on  text   NOT NULL,
    description text   NOT NULL,
    tags        text   NOT NULL, -- one a line
    notes       text   NOT NULL,
    cover_id    bigint NOT NULL  -- the earliest photo is the cover if there is no photo with this id
);

CREATE TABLE photos (
    id         bigint  GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME photos_id MAXVALUE 9007199254740991) PRIMARY KEY,
    pet_id     bigint  NOT NULL,
    token      text    COLLATE "C" NOT NULL UNIQUE, -- whoever knows it may see the files
    width      integer NOT NULL,
    height     integer NOT NULL,
    created_at bigint  NOT NULL, -- milliseconds since 1970
    bytes      bigint  NOT NULL, -- of both files
    small      bytea   NOT NULL,
    large      bytea   NOT NULL
);

-- The files are JPEGs, which cannot be compressed.
ALTER TABLE photos ALTER COLUMN small SET STORAGE EXTERNAL, ALTER COLUMN large SET STORAGE EXTERNAL;

-- Has the sizes, so that they can be added up without reading the table.
CREATE INDEX photos_by_pet ON photos (pet_id, id, bytes);

-- Servers of the previous version delete animals too, and know nothing of these tables.
CREATE FUNCTION forget_pets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM profiles WHERE pet_id IN (SELECT id FROM removed);
    DELETE FROM photos WHERE pet_id IN (SELECT id FROM removed);
    RETURN NULL;
END $$;

CREATE TRIGGER pets_forgotten AFTER DELETE ON pets REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION forget_pets();
