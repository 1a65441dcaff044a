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

// The migration 0005_search.sql describes how the words of animals are stored: in blocks. Writers only mark blocks, which
// costs a create next to nothing. Upkeep calls IndexWords to store the words. A search also reads the blocks that are
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

	takeMarks = `
		WITH taken AS (
			DELETE FROM marked_blocks WHERE block = ANY (ARRAY(SELECT DISTINCT block FROM marked_blocks ORDER BY block DESC LIMIT $1))
			RETURNING block
		)
		SELECT DISTINCT block FROM taken`

	selectBlocks = `
		SELECT pets.* FROM unnest($1::bigint[]) AS wanted (block) CROSS JOIN LATERAL (
			SELECT ` + foundColumns + ` FROM pets
			WHERE id >= block * 64 AND id < block * 64 + 64 AND ($2 = 0::smallint OR status = $2) AND (NOT $3 OR category_id = $4)
			ORDER BY id DESC LIMIT 64
		) AS pets`

	// A block that has the words already, and perhaps more, is not written.
	storeWords = `
		INSERT INTO block_words (block, words)
		SELECT block, made.words FROM (
			SELECT block, array_to_tsvector(string_to_array(words, ' ')) AS words FROM unnest($1::bigint[], $2::text[]) AS made (block, words)
		) AS made LEFT JOIN block_words AS stored USING (block)
		WHERE stored.words IS NULL OR stored.words || made.words <> stored.words
		ON CONFLICT (block) DO UPDATE SET words = excluded.words`
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
	rows, _ := tx.Query(ctx, takeMarks, indexBatchSize)
	marked, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return 0, 0, err
	}
	// The animals are read after the marks were taken, so a change that is not seen leaves a mark.
	words := blockWords{}
	if err := words.read(ctx, tx, marked); err != nil {
		return 0, 0, err
	}
	if len(marked) < indexBatchSize && from > 0 {
		if from, err = words.readBefore(ctx, tx, from); err != nil {
			return 0, 0, err
		}
	}
	return len(marked), from * blockSize, words.store(ctx, tx)
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
	for _, word := range petstore.WordsOfPet(pet.Name, pet.breed) {
		words[word] = true
	}
	words[categoryWord(pet.CategoryID)] = true
}

// categoryWord returns the word of a category. It differs from all other words, because those have only letters and
// digits.
func categoryWord(id int64) string { return "=" + strconv.FormatInt(id, 10) }

// read adds the words of blocks.
func (b blockWords) read(ctx context.Context, tx pgx.Tx, blocks []int64) error {
	for _, block := range blocks {
		b[block] = map[string]bool{}
	}
	rows, err := tx.Query(ctx, selectBlocks, blocks, int16(petstore.AnyStatus), false, 0)
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
		block := pet.ID / blockSize
		if block < from {
			break
		}
		if b[block] == nil {
			b[block] = map[string]bool{}
		}
		b.add(pet)
	}
	_, err = tx.Exec(ctx, moveIndex, strconv.FormatInt(from, 10))
	return from, err
}

// store stores the words.
func (b blockWords) store(ctx context.Context, tx pgx.Tx) error {
	if len(b) == 0 {
		return nil
	}
	blocks := slices.Sorted(maps.Keys(b))
	words := make([]string, len(blocks))
	for i, block := range blocks {
		words[i] = strings.Join(slices.Collect(maps.Keys(b[block])), " ")
	}
	_, err := tx.Exec(ctx, storeWords, blocks, words)
	return err
}

// noBlock comes after all blocks.
const noBlock = math.MaxInt64/blockSize + 1
