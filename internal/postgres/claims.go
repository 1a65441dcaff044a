package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"petstore/internal/petstore"
)

// Writes that share a transaction claim their idempotency keys together, each by a new record. They claim them before they lock
// anything else, and in the order of the keys, so that no two transactions wait for each other. A write leaves the others and
// gets a transaction of its own if there is a record with its key. All do so if the statement has to wait too long for another
// transaction, which may do the same write.
const (
	waitBriefly = "(SELECT set_config('lock_timeout', '250ms', true) OFFSET 0) AS wait"

	// The answer stays empty until the end of the transaction.
	claimKeys = `
		INSERT INTO idempotency (owner, key, fingerprint, answer, created_at)
		SELECT owner, key, fingerprint, '', coalesce(at, ` + nowMillis + `)
		FROM ` + waitBriefly + `, unnest($1::text[], $2::text[], $3::bytea[], $4::bigint[]) AS record (owner, key, fingerprint, at)
		ON CONFLICT DO NOTHING RETURNING owner, key, ctid`

	// isClaimed is a condition on a row of writes that has the name wanted.
	isClaimed = `(wanted.key IS NULL OR EXISTS (
		SELECT FROM idempotency AS record WHERE record.owner = wanted.owner AND record.key = wanted.key AND record.answer = ''))`

	// Nobody else can move a record before its transaction ends.
	rememberAnswers = `
		UPDATE idempotency SET answer = made.answer FROM unnest($1::tid[], $2::text[]) AS made (place, answer)
		WHERE ctid = made.place AND ctid = ANY ($1)`

	giveBackKeys = "DELETE FROM idempotency WHERE ctid = ANY ($1)"
)

// inOrderOfKeys returns the positions of the writes that can share a transaction, first of those without a key. Of writes with
// the same key, only one can.
func inOrderOfKeys(n int, once func(position int) *petstore.Idempotency) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	compare := func(a, b int) int { return compareKeys(once(a), once(b)) }
	slices.SortStableFunc(order, compare)
	return slices.CompactFunc(order, func(a, b int) bool { return once(a) != nil && compare(a, b) == 0 })
}

// compareKeys orders by owner and key. Nil comes first.
func compareKeys(a, b *petstore.Idempotency) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Key, b.Key))
}

// keyColumns returns owners, keys, fingerprints and times as parameters. They are NULL for a write without a key.
func keyColumns(records []*petstore.Idempotency) []any {
	n := len(records)
	owners, keys, fingerprints, times := make([]*string, n), make([]*string, n), make([][]byte, n), make([]*int64, n)
	for i, record := range records {
		if record != nil {
			owners[i], keys[i], fingerprints[i], times[i] = &record.Owner, &record.Key, record.Fingerprint[:], toMillis(record.Now)
		}
	}
	return []any{owners, keys, fingerprints, times}
}

// sendOnce sends a batch of changes, of which those at the positions in keyed have keys, in a transaction that claims these keys
// and stores the answers.
func sendOnce(ctx context.Context, conn *pgxpool.Conn, batch *pgx.Batch, changes []change, keyed []int, answers []any) (err error) {
	defer func() {
		if sqlState(err) != "" {
			conn.Exec(ctx, "ROLLBACK") // if it fails, the connection closes when it is released, which also undoes the work
		}
	}()
	records := make([]*petstore.Idempotency, len(keyed))
	for i, position := range keyed {
		records[i] = changes[position].once
	}
	type name struct{ owner, key string }
	claimed := map[name]pgtype.TID{} // where the new records are
	begin := &pgx.Batch{}
	begin.Queue("BEGIN")
	begin.Queue(claimKeys, keyColumns(records)...).Query(func(rows pgx.Rows) error {
		var n name
		var place pgtype.TID
		_, err := pgx.ForEachRow(rows, []any{&n.owner, &n.key, &place}, func() error { claimed[n] = place; return nil })
		return err
	})
	begin.QueuedQueries = append(begin.QueuedQueries, batch.QueuedQueries...)
	if err := conn.SendBatch(ctx, begin).Close(); err != nil {
		return err
	}
	var made, unmade []pgtype.TID
	var texts []string
	for i, position := range keyed {
		place, isClaimed := claimed[name{records[i].Owner, records[i].Key}]
		switch {
		case answers[position] != nil:
			text, err := json.Marshal(answers[position])
			if err != nil {
				return err
			}
			made, texts = append(made, place), append(texts, string(text))
		case isClaimed:
			unmade = append(unmade, place)
		}
	}
	end := &pgx.Batch{}
	end.Queue(rememberAnswers, made, texts)
	end.Queue(giveBackKeys, unmade)
	end.Queue("COMMIT")
	return conn.SendBatch(ctx, end).Close()
}
