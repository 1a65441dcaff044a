package postgres

import (
	"testing"
	"time"

	"petstore/internal/conformance"
	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

func addUsageOf(t *testing.T, db *DB, owners ...string) {
	t.Helper()
	hour := time.Now().Truncate(time.Hour)
	for _, owner := range owners {
		added := []petstore.OwnerUsage{{Owner: owner, Usage: petstore.Usage{Hour: hour, Passed: 1}}}
		noError(t, errorOf(db.AddUsage(t.Context(), added, nil)))
	}
}

// countUsage returns how many rows the tables have, and how many requests of the owner passed.
func countUsage(t *testing.T, db *DB, owner string) (added, folded, passed int64) {
	t.Helper()
	noError(t, db.pool.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM usage_added), (SELECT count(*) FROM usage)").Scan(&added, &folded))
	usage, err := db.Usage(t.Context(), owner, time.Time{})
	noError(t, err)
	for _, u := range usage {
		passed += u.Passed
	}
	return added, folded, passed
}

func TestPurgeUsageFoldsUsage(t *testing.T) {
	db := open(t, testservice.Postgres(t))
	for range foldUsageSize + 1 {
		addUsageOf(t, db, "ann", "bob")
	}
	if added, folded, passed := countUsage(t, db, "ann"); added != 2*foldUsageSize+2 || folded != 0 || passed != foldUsageSize+1 {
		t.Errorf("before the fold, %d rows are added, %d folded, and ann has %d requests", added, folded, passed)
	}
	noError(t, errorOf(db.PurgeUsage(t.Context(), time.Time{})))
	if added, folded, passed := countUsage(t, db, "ann"); added != 0 || folded != 2 || passed != foldUsageSize+1 {
		t.Errorf("after the fold, %d rows are added, %d folded, and ann has %d requests", added, folded, passed)
	}
}

func TestPurgeUsageSkipsWhatAnotherReplicaFolds(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	addUsageOf(t, db, "ann", "ann", "bob")
	holder := holdLocks(t, url, "SELECT FROM usage_added WHERE last_owner = 'ann' FOR UPDATE")
	noError(t, errorOf(db.PurgeUsage(t.Context(), time.Time{})))
	if added, folded, passed := countUsage(t, db, "ann"); added != 2 || folded != 1 || passed != 2 {
		t.Errorf("beside another fold, %d rows are added, %d folded, and ann has %d requests", added, folded, passed)
	}
	noError(t, errorOf(holder.Exec(t.Context(), "COMMIT")))
	noError(t, errorOf(db.PurgeUsage(t.Context(), time.Time{})))
	if added, folded, passed := countUsage(t, db, "ann"); added != 0 || folded != 2 || passed != 2 {
		t.Errorf("at last, %d rows are added, %d folded, and ann has %d requests", added, folded, passed)
	}
}

func TestAddUsageWaitsForNoFold(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	addUsageOf(t, db, "ann")
	noError(t, errorOf(db.PurgeUsage(t.Context(), time.Time{})))
	addUsageOf(t, db, "ann")
	holdLocks(t, url, "SELECT FROM usage FOR UPDATE; SELECT FROM usage_added FOR UPDATE")
	addUsageOf(t, db, "ann")
	if added, folded, passed := countUsage(t, db, "ann"); added != 2 || folded != 1 || passed != 3 {
		t.Errorf("%d rows are added, %d folded, and ann has %d requests", added, folded, passed)
	}
}

func TestAFoldOfNothingWritesNothing(t *testing.T) {
	db := open(t, testservice.Postgres(t))
	tx, err := db.pool.Begin(t.Context())
	noError(t, err)
	defer tx.Rollback(t.Context())
	for _, c := range []struct {
		add    bool
		writes bool
	}{{false, false}, {true, true}} {
		if c.add {
			addUsageOf(t, db, "ann")
		}
		noError(t, errorOf(tx.Exec(t.Context(), foldUsage, foldUsageSize)))
		var writes bool
		noError(t, tx.QueryRow(t.Context(), "SELECT pg_current_xact_id_if_assigned() IS NOT NULL").Scan(&writes))
		if writes != c.writes {
			t.Errorf("with usage added: %t; the fold writes: %t", c.add, writes)
		}
	}
}

func BenchmarkUsage(b *testing.B) { conformance.BenchmarkUsage(b, open(b, testservice.Postgres(b))) }
