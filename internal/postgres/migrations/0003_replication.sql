-- With a primary key, a publication for logical replication can send deletes, such as those of folding.
ALTER TABLE inventory ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY;
