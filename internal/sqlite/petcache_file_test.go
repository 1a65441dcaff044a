package sqlite

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petcache"
	"petstore/internal/petstore"
)

// cacheTest compares the cache of a DB with the database file.
type cacheTest struct {
	*testing.T
	*DB
	random *rand.Rand
	now    time.Time
	orders []int64
	other  *sqlite3.Conn // a connection of another program
}

func newCacheTest(t *testing.T, seed uint64) *cacheTest {
	c := &cacheTest{T: t, random: rand.New(rand.NewPCG(seed, 1)), now: time.Now()}
	c.DB = open(t, Config{Path: filepath.Join(t.TempDir(), "petstore.db"), Create: true, Serve: true, Now: func() time.Time { return c.now }})
	c.cache.pets.MaxBytes = 4 * petcache.BlockSize * petcache.SizeOf(petstore.Pet{NewPet: petstore.NewPet{Name: strings.Repeat("x", 40)}})
	// A deferred foreign key makes the COMMIT itself fail.
	execOnWriter(t, c.DB, "PRAGMA foreign_keys = ON")
	execOnWriter(t, c.DB, "CREATE TABLE none (id INTEGER PRIMARY KEY)")
	execOnWriter(t, c.DB, "CREATE TABLE faulty (id INTEGER REFERENCES none DEFERRABLE INITIALLY DEFERRED)")
	execOnWriter(t, c.DB, "CREATE TRIGGER fault AFTER INSERT ON pets WHEN NEW.name = 'faulty' BEGIN INSERT INTO faulty VALUES (7); END")
	var err error
	c.other, err = sqlite3.OpenConn(c.path, sqlite3.OpenReadWrite)
	noError(t, err)
	t.Cleanup(func() { c.other.Close() })
	return c
}

// pet returns a random animal to store.
func (c *cacheTest) pet() petstore.NewPet {
	return petstore.NewPet{
		Name:       strings.Repeat("x", 1+c.random.IntN(40)),
		CategoryID: c.random.Int64N(9),
		Status:     petstore.Statuses[c.random.IntN(3)],
	}
}

// id returns a random id, usually of an animal that exists or has existed. It does not use the readers of the DB, because
// the test checks the state of these readers.
func (c *cacheTest) id() int64 {
	highest := int64(0)
	noError(c, query(c.other, func(row *sqlite3.Stmt) { highest = row.ColumnInt64(0) }, selectSequence, "pets"))
	return 1 + c.random.Int64N(highest+2)
}

// changesOfEveryKind has a function for every way in which animals change. The DB may refuse a change without failing the
// test.
var changesOfEveryKind = map[string]func(c *cacheTest){
	"create": func(c *cacheTest) { c.CreatePet(c.Context(), c.pet(), nil) },
	"create many": func(c *cacheTest) {
		pets := make([]petstore.NewPet, 1+c.random.IntN(400))
		for i := range pets {
			pets[i] = c.pet()
		}
		c.AddPets(c.Context(), pets, nil)
	},
	"rename": func(c *cacheTest) {
		name := c.pet().Name
		c.UpdatePet(c.Context(), c.id(), petstore.PetPatch{Name: &name}, nil)
	},
	"change status": func(c *cacheTest) {
		status := c.pet().Status
		c.UpdatePet(c.Context(), c.id(), petstore.PetPatch{Status: &status}, nil)
	},
	"delete": func(c *cacheTest) { c.DeletePet(c.Context(), c.id(), nil) },
	"delete many": func(c *cacheTest) {
		for id, n := c.id(), c.random.Int64N(400); n > 0; n-- {
			c.DeletePet(c.Context(), id+n, nil)
		}
	},
	"order": func(c *cacheTest) {
		order, _, err := c.PlaceOrder(c.Context(), petstore.NewOrder{PetID: c.id(), Hold: time.Hour}, nil)
		if err == nil {
			c.orders = append(c.orders, order.ID)
		}
	},
	"close an order": func(c *cacheTest) {
		if len(c.orders) > 0 {
			to := []petstore.OrderStatus{petstore.Completed, petstore.Cancelled}[c.random.IntN(2)]
			c.CloseOrder(c.Context(), c.orders[c.random.IntN(len(c.orders))], to, nil)
		}
	},
	"expire": func(c *cacheTest) {
		c.now = c.now.Add(30 * time.Minute)
		_, err := c.ExpireOrders(c.Context())
		noError(c, err)
	},
	"name a category": func(c *cacheTest) {
		c.NameCategory(c.Context(), petstore.Category{ID: c.random.Int64N(9), Name: c.pet().Name}, nil)
	},
	"copy": func(c *cacheTest) {
		noError(c, c.ReplacePets(c.Context(), []petstore.Pet{{ID: c.id(), NewPet: c.pet()}}, nil))
	},
	"copy a removal": func(c *cacheTest) { noError(c, c.ReplacePets(c.Context(), nil, []petstore.Pet{{ID: c.id()}})) },
	"fail to commit": func(c *cacheTest) {
		if _, err := c.commitBatch([]change{{pet: c.pet()}, {pet: petstore.NewPet{Name: "faulty", Status: petstore.Sold}}}); err == nil {
			c.Error("a faulty animal was stored")
		}
	},
	"change the file from another program": func(c *cacheTest) {
		noError(c, run(c.other, "UPDATE pets SET category_id = 99 WHERE id = ?1", c.id()))
		c.CreatePet(c.Context(), c.pet(), nil)
	},
	"read": func(c *cacheTest) { c.fillCache() },
}

// The type shown holds answers of the DB, to compare with the file later.
type shown struct {
	q    petstore.PetQuery
	pets []petstore.Pet
	id   int64
	pet  petstore.Pet
	err  error
}

// check compares the answers of the DB with the file, and checks the cache. It reads the file last, because reading the
// file makes every reader begin a new transaction.
func (c *cacheTest) check() {
	c.Helper()
	reads := make([]shown, 8)
	for i := range reads {
		r := &reads[i]
		r.q = petstore.PetQuery{Limit: 1 + c.random.IntN(600), Before: c.random.Int64N(2) * c.id(), Status: petstore.Status(c.random.IntN(4))}
		r.id = c.id()
		var err error
		r.pets, err = c.ListPets(c.Context(), r.q)
		noError(c, err)
		r.pet, r.err = c.GetPet(c.Context(), r.id)
	}
	all, err := readFile(c.DB, petstore.PetQuery{Limit: math.MaxInt32})
	noError(c, err)
	c.checkCache(all)
	for _, r := range reads {
		want, err := readFile(c.DB, r.q)
		if noError(c, err); !slices.Equal(r.pets, want) {
			c.Fatalf("%+v shows %d animals, the file has %d", r.q, len(r.pets), len(want))
		}
		i, found := slices.BinarySearchFunc(all, r.id, func(p petstore.Pet, id int64) int { return int(id - p.ID) })
		if found != (r.err == nil) || (found && r.pet != all[i]) {
			c.Fatalf("the animal %d is %+v, %v", r.id, r.pet, r.err)
		}
	}
}

// checkCache compares the animals in the cache with the animals in the file. The slice all has the animals in the file, newest
// first.
func (c *cacheTest) checkCache(all []petstore.Pet) {
	c.Helper()
	c.cache.mu.RLock()
	defer c.cache.mu.RUnlock()
	cache := &c.cache.pets
	held, _ := cache.List(petstore.PetQuery{Limit: math.MaxInt32})
	i := slices.IndexFunc(all, func(p petstore.Pet) bool { return p.ID < cache.From() })
	if i < 0 {
		i = len(all)
	}
	if !slices.Equal(held, all[:i]) || cache.Bytes() > cache.MaxBytes {
		c.Fatalf("%d animals are in the cache from %d on, %d are in the file; they take %d bytes of at most %d", len(held), cache.From(), i, cache.Bytes(), cache.MaxBytes)
	}
}

// holds reports whether the cache holds animals. A read may add some after the read has answered.
func (c *cacheTest) holds() bool {
	c.cache.mu.RLock()
	defer c.cache.mu.RUnlock()
	return c.cache.pets.Bytes() > 0
}

func TestTheCacheShowsWhatTheFileShows(t *testing.T) {
	names := make([]string, 0, len(changesOfEveryKind))
	for name := range changesOfEveryKind {
		names = append(names, name)
	}
	slices.Sort(names)
	held := false
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			c := newCacheTest(t, seed)
			for range 80 {
				name := names[c.random.IntN(len(names))]
				changesOfEveryKind[name](c)
				c.check()
				if t.Failed() {
					t.Fatal("after: ", name)
				}
				held = held || c.holds()
			}
		})
	}
	if !held {
		t.Error("the cache was always empty")
	}
}
