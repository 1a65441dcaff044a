package conformance

import (
	"fmt"
	"slices"
	"time"

	"petstore/internal/petstore"
)

// thisHour returns the beginning of the current hour. Usage that is much older than that is not shown.
func thisHour() time.Time { return time.Now().UTC().Truncate(time.Hour) }

func usageOf(owner string, hour time.Time, passed, refused int64) petstore.OwnerUsage {
	return petstore.OwnerUsage{Owner: owner, Usage: petstore.Usage{Hour: hour, Passed: passed, Refused: refused}}
}

func (t storageTest) addUsage(added ...petstore.OwnerUsage) {
	t.Helper()
	replayed, err := t.AddUsage(t.Context(), added, nil)
	t.noError(err)
	t.same("replayed", replayed, false)
}

// usage returns all usage of an owner that is kept.
func (t storageTest) usage(owner string) []petstore.Usage {
	t.Helper()
	usage, err := t.Usage(t.Context(), owner, time.Time{})
	t.noError(err)
	return usage
}

// mergeUsage lets the storage merge what was added, and deletes nothing.
func (t storageTest) mergeUsage() {
	t.Helper()
	purged, err := t.PurgeUsage(t.Context(), time.UnixMilli(1))
	t.noError(err)
	t.same("purged", purged, int64(0))
}

// sameStoredUsage fails the test unless the storage has this usage, in this order, in pages of any size.
func (t storageTest) sameStoredUsage(want []petstore.OwnerUsage) {
	t.Helper()
	for _, limit := range []int{1 + len(want)/7, len(want), len(want) + 1} {
		var got []petstore.OwnerUsage
		for after := (petstore.OwnerUsage{Usage: petstore.Usage{Hour: time.UnixMilli(0)}}); ; after = got[len(got)-1] {
			page, err := t.StoredUsage(t.Context(), after, limit)
			t.noError(err)
			if got = append(got, page...); len(page) < limit {
				break
			}
		}
		t.same(fmt.Sprint("usage in pages of ", limit), got, want)
	}
}

var usageCases = []storageCase{
	{"an owner without requests has no usage", func(t storageTest) {
		t.same("usage before the first request", len(t.usage("ann")), 0)
		t.addUsage(usageOf("bob", thisHour(), 1, 0))
		t.same("usage", len(t.usage("ann")), 0)
	}},
	{"usage adds up by owner and hour", func(t storageTest) {
		now := thisHour()
		t.addUsage(usageOf("ann", now, 1, 2), usageOf("bob", now, 10, 0), usageOf("ann", now.Add(-time.Hour), 5, 0))
		t.addUsage(usageOf("ann", now, 3, 1<<40), usageOf("bob 'quoted' 🔑", now, 0, 4))
		t.same("ann's", t.usage("ann"), []petstore.Usage{{Hour: now.Add(-time.Hour), Passed: 5}, {Hour: now, Passed: 4, Refused: 2 + 1<<40}})
		t.same("bob's", t.usage("bob"), []petstore.Usage{{Hour: now, Passed: 10}})
		t.same("the other bob's", t.usage("bob 'quoted' 🔑"), []petstore.Usage{{Hour: now, Refused: 4}})
	}},
	{"usage is returned oldest first, from the given hour on", func(t storageTest) {
		now := thisHour()
		var want []petstore.Usage
		for _, hours := range []int{5, 0, 700, 1, 30} {
			u := usageOf("ann", now.Add(-time.Duration(hours)*time.Hour), int64(hours)+1, 0)
			t.addUsage(u)
			want = append(want, u.Usage)
		}
		slices.SortFunc(want, func(a, b petstore.Usage) int { return a.Hour.Compare(b.Hour) })
		t.same("all", t.usage("ann"), want)
		for i, hours := range []int{700, 30, 5, 1, 0} {
			for _, within := range []time.Duration{0, time.Minute} {
				got, err := t.Usage(t.Context(), "ann", now.Add(-time.Duration(hours)*time.Hour+within))
				t.noError(err)
				t.same(fmt.Sprint("from ", hours, " hours ago"), got, want[i:])
			}
		}
		none, err := t.Usage(t.Context(), "ann", now.Add(time.Hour))
		t.noError(err)
		t.same("from the next hour on", len(none), 0)
	}},
	{"usage that is no longer kept is not returned, whether it was deleted or not", func(t storageTest) {
		now := thisHour()
		t.addUsage(usageOf("ann", now.Add(-petstore.UsageKept-2*time.Hour), 1, 0), usageOf("ann", now, 1, 0))
		t.same("usage", t.usage("ann"), []petstore.Usage{{Hour: now, Passed: 1}})
	}},
	{"usage in the distant future, counted by a fast clock, hides nothing", func(t storageTest) {
		now := thisHour()
		t.addUsage(usageOf("ann", now.AddDate(50, 0, 0), 1, 0), usageOf("ann", now, 1, 0))
		t.same("usage", t.usage("ann"), []petstore.Usage{{Hour: now, Passed: 1}})
	}},
	{"nothing to add is no error", func(t storageTest) { t.addUsage() }},
	{"of concurrent additions, none is lost, whatever their order", func(t storageTest) {
		now := thisHour()
		const owners, writers, rounds = 200, 8, 5
		var added []petstore.OwnerUsage
		for i := range owners {
			added = append(added, usageOf(fmt.Sprint("owner ", i), now, 1, 2))
		}
		backwards := slices.Clone(added)
		slices.Reverse(backwards)
		t.concurrently(writers, func(i int) error {
			for range rounds {
				if _, err := t.AddUsage(t.Context(), [][]petstore.OwnerUsage{added, backwards}[i%2], nil); err != nil {
					return err
				}
			}
			return nil
		})
		for _, u := range added {
			t.same(u.Owner, t.usage(u.Owner), []petstore.Usage{{Hour: now, Passed: writers * rounds, Refused: 2 * writers * rounds}})
		}
	}},
	{"usage is the same before, between and after merges", func(t storageTest) {
		now, owners := thisHour(), 450
		var want []petstore.OwnerUsage // in the order of the storage
		for _, hour := range []time.Time{now.Add(-time.Hour), now} {
			for i := range owners {
				want = append(want, usageOf(fmt.Sprintf("owner %03d", i), hour, 0, 0))
			}
		}
		check := func() {
			t.Helper()
			t.sameStoredUsage(want)
			for _, i := range []int{0, 199, 200, 449} {
				t.same(want[i].Owner, t.usage(want[i].Owner), []petstore.Usage{want[i].Usage, want[owners+i].Usage})
			}
		}
		add := func(first, step int) {
			t.Helper()
			var added []petstore.OwnerUsage
			for i := first; i < len(want); i += step {
				more := usageOf(want[i].Owner, want[i].Hour, int64(i+1), int64(step))
				added = append(added, more)
				want[i].Passed += more.Passed
				want[i].Refused += more.Refused
			}
			slices.Reverse(added)
			t.addUsage(added...)
		}
		add(0, 1)
		check()
		t.mergeUsage()
		check()
		add(1, 2)
		add(0, 3)
		check()
		for range 2 {
			t.mergeUsage()
			check()
		}
	}},
	{"of additions beside merges, none is lost or counted twice, and every read sees whole additions", func(t storageTest) {
		now := thisHour()
		const owners, adders, mergers, readers, rounds = 300, 4, 2, 2, 6
		var added, want []petstore.OwnerUsage
		for i := range owners {
			added = append(added, usageOf(fmt.Sprintf("owner %03d", i), now, 1, 2))
			want = append(want, usageOf(added[i].Owner, now, adders*rounds, 2*adders*rounds))
		}
		t.concurrently(adders+mergers+readers, func(i int) (err error) {
			seen := int64(0)
			for range rounds {
				switch {
				case i < adders:
					_, err = t.AddUsage(t.Context(), added, nil)
				case i < adders+mergers:
					_, err = t.PurgeUsage(t.Context(), time.UnixMilli(1))
				default:
					var usage []petstore.Usage
					if usage, err = t.Usage(t.Context(), "owner 123", now); err == nil && len(usage) > 0 {
						if u := usage[0]; len(usage) > 1 || u.Passed < seen || u.Refused != 2*u.Passed {
							return fmt.Errorf("after %d requests, the usage is %+v", seen, usage)
						}
						seen = usage[0].Passed
					}
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		t.sameStoredUsage(want)
		t.mergeUsage()
		t.sameStoredUsage(want)
	}},
	{"a repeat of a large addition adds nothing", func(t storageTest) {
		now := thisHour()
		var added []petstore.OwnerUsage
		for i := range 5000 {
			added = append(added, usageOf(fmt.Sprint("owner ", i), now, 1, 0))
		}
		for _, again := range []bool{false, true, true} {
			replayed, err := t.AddUsage(t.Context(), added, idempotency("k", 1))
			t.noError(err)
			t.same("replayed", replayed, again)
		}
		for i := 0; i < len(added); i += 500 {
			t.same(added[i].Owner, t.usage(added[i].Owner), []petstore.Usage{{Hour: now, Passed: 1}})
		}
		_, err := t.AddUsage(t.Context(), added, idempotency("k", 2))
		t.refused(err, petstore.IdempotencyConflict)
	}},
	{"an addition changes nothing that it is given", func(t storageTest) {
		now := thisHour()
		added := []petstore.OwnerUsage{usageOf("b", now, 1, 0), usageOf("a", now, 2, 0)}
		t.addUsage(added...)
		t.same("given", added, []petstore.OwnerUsage{usageOf("b", now, 1, 0), usageOf("a", now, 2, 0)})
	}},
	{"old usage is purged, in as many steps as it needs", func(t storageTest) {
		now := thisHour()
		var old []petstore.OwnerUsage
		for i := range 1700 {
			old = append(old, usageOf(fmt.Sprint("owner ", i), now.Add(-time.Duration(i%20+10)*time.Hour), 1, 0))
		}
		t.addUsage(old[:900]...)
		t.mergeUsage()
		t.addUsage(append(old[500:], usageOf("ann", now.Add(-9*time.Hour), 1, 0))...)
		purged, err := t.PurgeUsage(t.Context(), now.Add(-9*time.Hour))
		t.noError(err)
		t.same("purged", purged, int64(len(old)))
		t.same("usage of a purged owner", len(t.usage("owner 0")), 0)
		t.same("usage of the others", len(t.usage("ann")), 1)
	}},
	{"by default, usage is purged once it is no longer kept", func(t storageTest) {
		now := thisHour()
		t.addUsage(usageOf("ann", now.Add(-petstore.UsageKept-2*time.Hour), 1, 0), usageOf("ann", now.Add(-petstore.UsageKept+2*time.Hour), 1, 0))
		purged, err := t.PurgeUsage(t.Context(), time.Time{})
		t.noError(err)
		t.same("purged", purged, int64(1))
		t.same("kept", len(t.usage("ann")), 1)
	}},
}

var copyUsageCases = []copyCase{
	{"usage is copied, and the next copy brings what was added and removed since", func(t copyTest) {
		add := func(s petstore.Database, added ...petstore.OwnerUsage) {
			t.noError(errorOf(s.AddUsage(t.Context(), added, nil)))
		}
		var month []petstore.OwnerUsage
		for i := range 2500 {
			month = append(month, usageOf(fmt.Sprint("owner ", i%50), epoch.Truncate(time.Hour).Add(time.Duration(i/50)*time.Hour), int64(i), 1))
		}
		add(t.from, month...)
		add(t.to, usageOf("there", epoch.Truncate(time.Hour), 1, 0))
		tallies := t.copyAll()
		t.same("what was done", tallies[7], petstore.Tally{Kind: "hours of usage", Added: 2500, Removed: 1})
		t.sameContent()
		add(t.from, month[7], usageOf("ann", epoch.Truncate(time.Hour), 1, 0))
		_, err := t.from.PurgeUsage(t.Context(), month[50].Hour)
		t.noError(err)
		tallies = t.copyAll()
		t.same("what was done then", tallies[7], petstore.Tally{Kind: "hours of usage", Removed: 50})
		add(t.from, month[60], usageOf("ann", month[60].Hour, 1, 0))
		_, err = t.from.PurgeUsage(t.Context(), month[50].Hour)
		t.noError(err)
		add(t.from, month[60])
		add(t.to, month[60], month[61])
		tallies = t.copyAll()
		t.same("what was done at last", tallies[7], petstore.Tally{Kind: "hours of usage", Added: 1, Changed: 2})
		t.sameContent()
		t.same("what was done again", t.copyAll(), nothingDone)
	}},
}
