package postgres

import (
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
)

// The migration 0005_search.sql describes how the words of animals are stored: in blocks. Writers only mark blocks, or animals
// in them, which costs a create next to nothing. Upkeep calls IndexWords to store the words. A search also reads the blocks that are
// marked, so it neither waits for IndexWords nor misses a write.
const (
	selectIndex = `
		SELECT v.value::bigint, f.value::bigint FROM settings v, settings f WHERE v.name = 'words_version' AND f.name = 'words_from'`

	// It is false if a newer program has made the words.
	indexLacks = `
		SELECT v.value::bigint < $1 OR v.value::bigint = $1 AND (f.value <> '0' OR EXISTS (SELECT FROM marked_blocks))
		FROM settings v, settings f WHERE v.name = 'words_version' AND f.name = 'words_from'`

	// Whoever creates an animal beyond the highest id marks its block.
	restartIndex = `
		UPDATE settings SET value = CASE name WHEN 'words_version' THEN $1 ELSE (SELECT coalesce(max(id) / 64 + 1, 0)::text FROM pets) END
		WHERE name IN ('words_version', 'words_from')`

	moveIndex = "UPDATE settings SET value = $1 WHERE name = 'words_from'"

	// A mark without an animal is of the whole block.
	takeMarks = `
		WITH taken AS (
			DELETE FROM marked_blocks WHERE block = ANY (ARRAY(SELECT DISTINCT block FROM marked_blocks ORDER BY block DESC LIMIT $1))
			RETURNING block, pet_id
		)
		SELECT DISTINCT block, pet_id FROM taken`

	selectFound = "SELECT " + foundColumns + " FROM pets WHERE id = ANY ($1)"

	selectBlocks = `
		SELECT pets.* FROM unnest($1::bigint[]) AS wanted (block) CROSS JOIN LATERAL (
			SELECT ` + foundColumns + ` FROM pets
			WHERE id >= block * 64 AND id < block * 64 + 64 AND ($2 = 0::smallint OR status = $2) AND (NOT $3 OR category_id = $4)
			ORDER BY id DESC LIMIT 64
		) AS pets`

	// A block that has the words already, and perhaps more, is not written.
	storeWords = `
		INSERT INTO block_words (block, words, made)
		SELECT block, made.words, length(made.words) FROM (
			SELECT block, array_to_tsvector(string_to_array(words, ' ')) AS words FROM unnest($1::bigint[], $2::text[]) AS made (block, words)
		) AS made LEFT JOIN block_words AS stored USING (block)
		WHERE stored.words IS NULL OR stored.words || made.words <> stored.words
		ON CONFLICT (block) DO UPDATE SET words = excluded.words, made = excluded.made`

	// The statement adds words to blocks. It returns the blocks that must be made anew: they have no words yet, or they would
	// have many words that their animals no longer have.
	addWords = `
		WITH grown AS MATERIALIZED (
			SELECT added.block, stored.words || added.words AS words,
				stored.words IS NULL OR length(stored.words || added.words) > 2 * stored.made + 64 AS outgrown
			FROM (
				SELECT block, array_to_tsvector(string_to_array(words, ' ')) AS words FROM unnest($1::bigint[], $2::text[]) AS added (block, words)
			) AS added LEFT JOIN block_words AS stored ON stored.block = added.block AND stored.block = ANY ($1)
			WHERE stored.words IS NULL OR stored.words || added.words <> stored.words
		), stored AS (
			UPDATE block_words SET words = grown.words FROM grown
			WHERE block_words.block = grown.block AND block_words.block = ANY ($1) AND NOT outgrown
		)
		SELECT block FROM grown WHERE outgrown`
)

const (
	// blockSize is how many ids a block has. The SQL has the same number.
	blockSize = 64
	// indexBatchSize is how many blocks IndexWords stores in one transaction, which must end before its timeout.
	indexBatchSize = 128
	// indexLock is the advisory lock under which one replica at a time stores words: "petwords" in ASCII.
	indexLock = 0x706574776f726473
)

// IndexWords stores the words of all marked blocks, and of some blocks that have none yet. It returns how many animals may
// be left without words; those in marked blocks do not count. It does nothing if another replica is doing this, or if a newer
// program with other rules for words has done it.
func (db *DB) IndexWords(ctx context.Context) (left int64, err error) {
	for marked := indexBatchSize; marked == indexBatchSize; {
		var lacks bool
		err := db.read(ctx, func(ctx context.Context) error {
			return db.pool.QueryRow(ctx, indexLacks, db.wordsVersion).Scan(&lacks)
		})
		if err != nil || !lacks {
			return 0, err
		}
		err = db.transaction(ctx, func(ctx context.Context, tx pgx.Tx) (err error) {
			marked, left, err = indexBatch(ctx, tx, db.wordsVersion)
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return left, nil
}

// indexBatch stores the words of at most indexBatchSize blocks each that are marked and that have none yet.
func indexBatch(ctx context.Context, tx pgx.Tx, version int) (marks int, left int64, err error) {
	from, mine, err := lockIndex(ctx, tx, version)
	if err != nil || !mine {
		return 0, 0, err
	}
	marked, blocks, pets, err := takeMarked(ctx, tx)
	if err != nil {
		return 0, 0, err
	}
	// The animals are read after the marks were taken, so a change that is not seen leaves a mark.
	outgrown, err := addAnimals(ctx, tx, pets)
	if err != nil {
		return 0, 0, err
	}
	words := blockWords{}
	if err := words.readBlocks(ctx, tx, append(blocks, outgrown...)); err != nil {
		return 0, 0, err
	}
	if marked < indexBatchSize && from > 0 {
		if from, err = words.readBefore(ctx, tx, from); err != nil {
			return 0, 0, err
		}
	}
	if len(words) > 0 {
		_, err = tx.Exec(ctx, storeWords, words.columns()...)
	}
	return marked, from * blockSize, err
}

// takeMarked removes the marks of indexBatchSize blocks. It returns how many blocks had marks, those that were marked as a whole,
// and the marked animals of the others.
func takeMarked(ctx context.Context, tx pgx.Tx) (n int, blocks, pets []int64, err error) {
	marked := map[int64][]int64{}
	rows, _ := tx.Query(ctx, takeMarks, indexBatchSize)
	var block int64
	var pet *int64
	_, err = pgx.ForEachRow(rows, []any{&block, &pet}, func() error {
		if pet == nil {
			blocks = append(blocks, block)
			pet = new(int64(-1))
		}
		marked[block] = append(marked[block], *pet)
		return nil
	})
	for _, ids := range marked {
		if !slices.Contains(ids, -1) {
			pets = append(pets, ids...)
		}
	}
	return len(marked), blocks, pets, err
}

// addAnimals adds the words of animals to their blocks. It returns the blocks that must be made anew.
func addAnimals(ctx context.Context, tx pgx.Tx, ids []int64) (outgrown []int64, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	words := blockWords{}
	if err := words.read(ctx, tx, selectFound, ids); err != nil {
		return nil, err
	}
	rows, _ := tx.Query(ctx, addWords, words.columns()...)
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// lockIndex reports whether the transaction may store words, and returns the first block that has them. If the words were
// made by older rules, no block has them.
func lockIndex(ctx context.Context, tx pgx.Tx, version int) (from int64, mine bool, err error) {
	// If the server loses the transaction in a crash, the marks are back, so nobody needs to wait for the disk.
	if _, err := tx.Exec(ctx, "SET LOCAL synchronous_commit = off"); err != nil {
		return 0, false, err
	}
	if err := tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1)", int64(indexLock)).Scan(&mine); err != nil || !mine {
		return 0, false, err
	}
	var stored int
	if err := tx.QueryRow(ctx, selectIndex).Scan(&stored, &from); err != nil || stored >= version {
		return from, stored == version, err
	}
	if _, err := tx.Exec(ctx, restartIndex, strconv.Itoa(version)); err != nil {
		return 0, false, err
	}
	err = tx.QueryRow(ctx, selectIndex).Scan(&stored, &from)
	return from, true, err
}

// blockWords has the words of blocks.
type blockWords map[int64]map[string]bool

func (b blockWords) add(pet foundPet) {
	words := b[pet.ID/blockSize]
	if words == nil {
		words = map[string]bool{}
		b[pet.ID/blockSize] = words
	}
	for _, word := range petstore.WordsOfPet(pet.Name, pet.breed) {
		words[word] = true
	}
	words[categoryWord(pet.CategoryID)] = true
}

// categoryWord returns the word of a category. It differs from all other words, because those have only letters and
// digits.
func categoryWord(id int64) string { return "=" + strconv.FormatInt(id, 10) }

// readBlocks adds the words of blocks, even of those without animals.
func (b blockWords) readBlocks(ctx context.Context, tx pgx.Tx, blocks []int64) error {
	for _, block := range blocks {
		b[block] = map[string]bool{}
	}
	return b.read(ctx, tx, selectBlocks, blocks, int16(petstore.AnyStatus), false, 0)
}

// read adds the words of the animals that a query returns.
func (b blockWords) read(ctx context.Context, tx pgx.Tx, sql string, args ...any) error {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	pets, err := collectFound(rows)
	for _, pet := range pets {
		b.add(pet)
	}
	return err
}

// readBefore adds the words of the newest animals before a block, and records the first block that has its words from now
// on. It returns 0 if all have.
func (b blockWords) readBefore(ctx context.Context, tx pgx.Tx, block int64) (from int64, err error) {
	const most = indexBatchSize * blockSize
	rows, err := tx.Query(ctx, walkPets, block*blockSize, most)
	if err != nil {
		return 0, err
	}
	pets, err := collectFound(rows)
	if err != nil {
		return 0, err
	}
	if len(pets) == most { // the last block may have more animals
		from = pets[most-1].ID/blockSize + 1
	}
	for _, pet := range pets {
		if pet.ID/blockSize < from {
			break
		}
		b.add(pet)
	}
	_, err = tx.Exec(ctx, moveIndex, strconv.FormatInt(from, 10))
	return from, err
}

// columns returns the words as parameters.
func (b blockWords) columns() []any {
	blocks := slices.Sorted(maps.Keys(b))
	words := make([]string, len(blocks))
	for i, block := range blocks {
		words[i] = strings.Join(slices.Collect(maps.Keys(b[block])), " ")
	}
	return []any{blocks, words}
}

// noBlock comes after all blocks.
const noBlock = math.MaxInt64/blockSize + 1
