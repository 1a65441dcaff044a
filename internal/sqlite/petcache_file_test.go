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

	"petstore/internal/petstore"
)

// keeper is a store whose memory is compared with its file.
type keeper struct {
	*testing.T
	*DB
	random *rand.Rand
	now    time.Time
	orders []int64
	other  *sqlite3.Conn // plays another program
}

func newKeeper(t *testing.T, seed uint64) *keeper {
	k := &keeper{T: t, random: rand.New(rand.NewPCG(seed, 1)), now: time.Now()}
	k.DB = open(t, Config{Path: filepath.Join(t.TempDir(), "petstore.db"), Create: true, Serve: true, Now: func() time.Time { return k.now }})
	k.newest.most = 4 * blockSize * (petSize + 40)
	// A foreign key that is checked at the end makes the COMMIT itself fail.
	onWriter(t, k.DB, "PRAGMA foreign_keys = ON")
	onWriter(t, k.DB, "CREATE TABLE none (id INTEGER PRIMARY KEY)")
	onWriter(t, k.DB, "CREATE TABLE faulty (id INTEGER REFERENCES none DEFERRABLE INITIALLY DEFERRED)")
	onWriter(t, k.DB, "CREATE TRIGGER fault AFTER INSERT ON pets WHEN NEW.name = 'faulty' BEGIN INSERT INTO faulty VALUES (7); END")
	var err error
	k.other, err = sqlite3.OpenConn(k.path, sqlite3.OpenReadWrite)
	noError(t, err)
	t.Cleanup(func() { k.other.Close() })
	return k
}

// pet is some animal to store.
func (k *keeper) pet() petstore.NewPet {
	return petstore.NewPet{
		Name:       strings.Repeat("x", 1+k.random.IntN(40)),
		CategoryID: k.random.Int64N(9),
		Status:     petstore.Statuses[k.random.IntN(3)],
	}
}

// id is usually the id of an animal that was stored once. It does not ask the readers of the store, whose state is under
// test.
func (k *keeper) id() int64 {
	highest := int64(0)
	noError(k, query(k.other, func(row *sqlite3.Stmt) { highest = row.ColumnInt64(0) }, selectSequence, "pets"))
	return 1 + k.random.Int64N(highest+2)
}

// ways are all the ways in which animals change. A refusal is no failure of the test.
var ways = map[string]func(k *keeper){
	"create": func(k *keeper) { k.CreatePet(k.Context(), k.pet(), nil) },
	"create many": func(k *keeper) {
		pets := make([]petstore.NewPet, 1+k.random.IntN(400))
		for i := range pets {
			pets[i] = k.pet()
		}
		k.AddPets(k.Context(), pets, nil)
	},
	"rename": func(k *keeper) {
		name := k.pet().Name
		k.UpdatePet(k.Context(), k.id(), petstore.PetPatch{Name: &name})
	},
	"change status": func(k *keeper) {
		status := k.pet().Status
		k.UpdatePet(k.Context(), k.id(), petstore.PetPatch{Status: &status})
	},
	"delete": func(k *keeper) { k.DeletePet(k.Context(), k.id()) },
	"delete many": func(k *keeper) {
		for id, n := k.id(), k.random.Int64N(400); n > 0; n-- {
			k.DeletePet(k.Context(), id+n)
		}
	},
	"order": func(k *keeper) {
		order, _, err := k.PlaceOrder(k.Context(), petstore.NewOrder{PetID: k.id(), Hold: time.Hour}, nil)
		if err == nil {
			k.orders = append(k.orders, order.ID)
		}
	},
	"close an order": func(k *keeper) {
		if len(k.orders) > 0 {
			to := []petstore.OrderStatus{petstore.Completed, petstore.Cancelled}[k.random.IntN(2)]
			k.CloseOrder(k.Context(), k.orders[k.random.IntN(len(k.orders))], to)
		}
	},
	"expire": func(k *keeper) {
		k.now = k.now.Add(30 * time.Minute)
		_, err := k.ExpireOrders(k.Context())
		noError(k, err)
	},
	"name a category": func(k *keeper) {
		k.NameCategory(k.Context(), petstore.Category{ID: k.random.Int64N(9), Name: k.pet().Name})
	},
	"copy": func(k *keeper) {
		noError(k, k.ReplacePets(k.Context(), []petstore.Pet{{ID: k.id(), NewPet: k.pet()}}, nil))
	},
	"copy a removal": func(k *keeper) { noError(k, k.ReplacePets(k.Context(), nil, []petstore.Pet{{ID: k.id()}})) },
	"fail to commit": func(k *keeper) {
		if _, err := k.commit([]change{{pet: k.pet()}, {pet: petstore.NewPet{Name: "faulty", Status: petstore.Sold}}}); err == nil {
			k.Error("a faulty animal was stored")
		}
	},
	"change the file beside it": func(k *keeper) {
		noError(k, run(k.other, "UPDATE pets SET category_id = 99 WHERE id = ?1", k.id()))
		k.CreatePet(k.Context(), k.pet(), nil)
	},
	"read": func(k *keeper) { k.fetch() },
}

// shown is an answer that is compared with the file later.
type shown struct {
	q    petstore.PetQuery
	pets []petstore.Pet
	id   int64
	pet  petstore.Pet
	err  error
}

// check compares what the store shows with what is in the file, and checks the memory. It reads the file last, because
// that makes every reader begin a new transaction.
func (k *keeper) check() {
	k.Helper()
	reads := make([]shown, 8)
	for i := range reads {
		r := &reads[i]
		r.q = petstore.PetQuery{Limit: 1 + k.random.IntN(600), Before: k.random.Int64N(2) * k.id(), Status: petstore.Status(k.random.IntN(4))}
		r.id = k.id()
		var err error
		r.pets, err = k.ListPets(k.Context(), r.q)
		noError(k, err)
		r.pet, r.err = k.GetPet(k.Context(), r.id)
	}
	all, err := readFile(k.DB, petstore.PetQuery{Limit: math.MaxInt32})
	noError(k, err)
	k.checkMemory(all)
	for _, r := range reads {
		want, err := readFile(k.DB, r.q)
		if noError(k, err); !slices.Equal(r.pets, want) {
			k.Fatalf("%+v shows %d animals, the file has %d", r.q, len(r.pets), len(want))
		}
		i, found := slices.BinarySearchFunc(all, r.id, func(p petstore.Pet, id int64) int { return int(id - p.ID) })
		if found != (r.err == nil) || (found && r.pet != all[i]) {
			k.Fatalf("the animal %d is %+v, %v", r.id, r.pet, r.err)
		}
	}
}

// checkMemory compares every animal in memory, and how they are counted, with the animals of the file, newest first.
func (k *keeper) checkMemory(all []petstore.Pet) {
	k.Helper()
	n := &k.newest
	n.mu.RLock()
	defer n.mu.RUnlock()
	var held []petstore.Pet
	bytes := 0
	for _, b := range n.blocks {
		var of [petstore.Sold + 1]uint16
		for _, pet := range b.pets {
			of[pet.Status]++
			bytes += sizeOf(pet)
		}
		if of != b.of || len(b.pets) == 0 || b.first > b.pets[0].ID || len(b.pets) > blockSize {
			k.Fatalf("a block of %d animals counts %v, there are %v", len(b.pets), b.of, of)
		}
		held = append(held, b.pets...)
	}
	slices.Reverse(held)
	i := slices.IndexFunc(all, func(p petstore.Pet) bool { return p.ID < n.from })
	if i < 0 {
		i = len(all)
	}
	if !slices.Equal(held, all[:i]) || bytes != n.bytes || bytes > n.most {
		k.Fatalf("%d animals are in memory from %d on, %d are in the file; %d bytes are counted, there are %d of %d", len(held), n.from, i, n.bytes, bytes, n.most)
	}
}

// held is how many blocks are in memory. A read may go on to add some after it has answered.
func (k *keeper) held() int {
	k.newest.mu.RLock()
	defer k.newest.mu.RUnlock()
	return len(k.newest.blocks)
}

func TestWhatIsInMemoryIsWhatIsInTheFile(t *testing.T) {
	names := make([]string, 0, len(ways))
	for name := range ways {
		names = append(names, name)
	}
	slices.Sort(names)
	held := 0
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			k := newKeeper(t, seed)
			for range 80 {
				name := names[k.random.IntN(len(names))]
				ways[name](k)
				k.check()
				if t.Failed() {
					t.Fatal("after: ", name)
				}
				held += k.held()
			}
		})
	}
	if held == 0 {
		t.Error("nothing was ever in memory")
	}
}
