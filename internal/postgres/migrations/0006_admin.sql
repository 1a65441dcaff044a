-- A key may also be an administrator's. Servers of the previous version let such a key read and write. The table is small, so
-- the check of its rows takes a moment.
ALTER TABLE keys
    DROP CONSTRAINT keys_access_check,
    ADD CONSTRAINT keys_access_check CHECK (access IN ('read', 'write', 'admin'));

CREATE INDEX keys_by_age ON keys (created_at, id COLLATE "C");

-- The requests of owners by hour, which is in milliseconds since 1970. The hour comes first, so that the rows of the current
-- hour are side by side. Their pages have room for new versions of the rows, so that an addition leaves the index as it is.
CREATE TABLE usage (
    hour    bigint NOT NULL,
    owner   text   COLLATE "C" NOT NULL,
    passed  bigint NOT NULL,
    refused bigint NOT NULL,
    PRIMARY KEY (hour, owner)
) WITH (fillfactor = 50);

-- What servers have added to the usage since it was last folded into the table above. Each row has some owners of one hour, in
-- their order; the elements of its three arrays belong together. Appending a few such rows takes a quarter of the time of
-- updating a row above for each owner.
CREATE TABLE usage_added (
    hour        bigint   NOT NULL,
    first_owner text     COLLATE "C" NOT NULL,
    last_owner  text     COLLATE "C" NOT NULL,
    owners      text[]   COLLATE "C" NOT NULL,
    passed      bigint[] NOT NULL,
    refused     bigint[] NOT NULL,
    id          bigint   GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (hour, last_owner, id)
);
