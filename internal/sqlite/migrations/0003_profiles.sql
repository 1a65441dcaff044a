-- What is known about an animal beyond its name. A text is empty if it is not known.
CREATE TABLE profiles (
    pet_id      INTEGER PRIMARY KEY,
    breed       TEXT    NOT NULL,
    sex         TEXT    NOT NULL CHECK (sex IN ('', 'female', 'male')),
    born_on     TEXT    NOT NULL,
    arrived_on  TEXT    NOT NULL,
    description TEXT    NOT NULL,
    tags        TEXT    NOT NULL, -- one a line
    notes       TEXT    NOT NULL,
    cover_id    INTEGER NOT NULL  -- the earliest photo is the cover if there is no photo with this id
) STRICT;

-- The files are last, so that SQLite need not read them to find the other columns.
CREATE TABLE photos (
    id         INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id < 9007199254740992),
    pet_id     INTEGER NOT NULL,
    token      TEXT    NOT NULL UNIQUE, -- whoever knows it may see the files
    width      INTEGER NOT NULL,
    height     INTEGER NOT NULL,
    created_at INTEGER NOT NULL, -- milliseconds since 1970
    bytes      INTEGER NOT NULL, -- of both files
    small      BLOB    NOT NULL,
    large      BLOB    NOT NULL
) STRICT;

-- Has the sizes, so that they can be added up without reading the table.
CREATE INDEX photos_by_pet ON photos (pet_id, id, bytes);
