package baseline

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// fastest is a store that does nothing but what the measured requests need. It may keep animals in memory, and commits
// changes that arrive together at once. When change returns, the change is durable, and everybody sees it.
type fastest interface {
	list(before, limit int64) ([]pet, error)
	get(id int64) (pet, error)
	inventory() (inventory, error)
	change(c *change) error
	// version changes with every commit. It is 0 if others may commit too.
	version() uint64
}

// inventory has the number of animals of each status.
type inventory [4]int64

// change is a write: of the animal, or of an order that has an animal. The store fills in the rest of both.
type change struct {
	kind    kind
	pet     pet
	order   order
	refused error
}

type kind int

const (
	create kind = iota
	update
	place
	complete
)

type order struct {
	id, pet                  int64
	created, expires, closed int64 // in milliseconds since 1970
}

const hold = 72 * time.Hour

// Ceiling returns the fastest service that we can write by hand on the same engine: it gives petstore's answers to the
// requests of the bench, as durably, and does nothing else. It has no keys, no limits, no log and no metrics, and it knows no
// other requests.
func Ceiling(database string) (http.Handler, error) {
	if strings.HasPrefix(database, "postgres:") {
		return newCeiling(openFastPostgres(database))
	}
	return newCeiling(openFastSQLite(strings.TrimPrefix(database, "sqlite:")))
}

type ceiling struct {
	fastest
	hot atomic.Pointer[hotPage]
}

// hotPage is the encoded newest page, as petstore too keeps it until the next commit.
type hotPage struct {
	version uint64
	body    []byte
}

func newCeiling(store fastest, err error) (http.Handler, error) { return &ceiling{fastest: store}, err }

func (s *ceiling) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status := http.StatusOK
	if r.Method == http.MethodPost && !strings.HasSuffix(r.URL.Path, "/complete") {
		status = http.StatusCreated
	}
	body, err := s.answer(r)
	if err != nil {
		status, body = http.StatusBadRequest, []byte(err.Error())
		if errors.Is(err, errNotFound) {
			status = http.StatusNotFound
		}
	}
	w.Header()["Content-Type"] = jsonType
	w.WriteHeader(status)
	w.Write(body)
}

var jsonType = []string{"application/json"}

func (s *ceiling) answer(r *http.Request) ([]byte, error) {
	b := make([]byte, 0, 128)
	path, ok := strings.CutPrefix(r.URL.Path, "/v1/")
	room, rest, _ := strings.Cut(path, "/")
	text, action, _ := strings.Cut(rest, "/")
	id, err := strconv.ParseInt(text, 10, 64)
	if !ok || rest != "" && err != nil {
		return nil, errNotFound
	}
	switch r.Method + " " + room + " " + action {
	case "GET inventory ":
		n, err := s.inventory()
		b = strconv.AppendInt(append(b, `{"available":`...), n[1], 10)
		b = strconv.AppendInt(append(b, `,"pending":`...), n[2], 10)
		b = strconv.AppendInt(append(b, `,"sold":`...), n[3], 10)
		return append(b, '}'), err
	case "GET pets ":
		if rest == "" {
			return s.page(r)
		}
		p, err := s.get(id)
		return p.append(b), err
	case "POST pets ", "PATCH pets ", "POST orders ", "POST orders complete":
		return s.write(r, room, action, id)
	}
	return nil, errNotFound
}

func (s *ceiling) page(r *http.Request) ([]byte, error) {
	before, limit := int64(math.MaxInt64), int64(20)
	version, hot := s.version(), r.URL.RawQuery == ""
	if kept := s.hot.Load(); hot && version > 0 && kept != nil && kept.version == version {
		return kept.body, nil
	}
	if !hot {
		query := r.URL.Query()
		cursor, err1 := base64.RawURLEncoding.DecodeString(query.Get("cursor"))
		n, err2 := strconv.ParseInt(cmp.Or(query.Get("limit"), "20"), 10, 64)
		if err := errors.Join(err1, err2); err != nil || len(cursor) != 9 || n < 1 || n > 100 {
			return nil, errors.Join(err, errors.New("the cursor or the limit is wrong"))
		}
		before, limit = int64(binary.BigEndian.Uint64(cursor[1:])), n
	}
	pets, err := s.list(before, limit)
	b := append(make([]byte, 0, 100*limit), '[')
	for i, p := range pets {
		if i > 0 {
			b = append(b, ',')
		}
		b = p.append(b)
	}
	b = append(b, ']')
	if hot && err == nil {
		s.hot.Store(&hotPage{version, b})
	}
	return b, err
}

func (s *ceiling) write(r *http.Request, room, action string, id int64) ([]byte, error) {
	var body struct {
		pet
		PetID int64 `json:"petId"`
	}
	c := &change{order: order{id: id}}
	if action == "" {
		text, err := io.ReadAll(r.Body)
		if err := errors.Join(err, json.Unmarshal(text, &body)); err != nil {
			return nil, err
		}
	}
	c.pet, c.order.pet = body.pet, body.PetID
	switch {
	case action != "":
		c.kind = complete
	case room == "orders":
		c.kind = place
	case r.Method == http.MethodPatch:
		c.kind, c.pet.ID = update, id
	case c.pet.Name == "" || numbers[c.pet.Status] == 0:
		return nil, errors.New("the body is not a whole animal")
	}
	err := cmp.Or(s.change(c), c.refused)
	if room == "orders" {
		return c.order.append(nil), err
	}
	return c.pet.append(nil), err
}

// append appends the animal as petstore encodes it. Only a name that needs no escapes is fast.
func (p pet) append(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"id":`...), p.ID, 10)
	b = append(b, `,"name":`...)
	if strings.ContainsFunc(p.Name, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\<>&`, r) }) {
		text, _ := json.Marshal(p.Name)
		b = append(b, text...)
	} else {
		b = append(append(append(b, '"'), p.Name...), '"')
	}
	b = strconv.AppendInt(append(b, `,"categoryId":`...), p.CategoryID, 10)
	return append(append(append(b, `,"status":"`...), p.Status...), `"}`...)
}

func (o order) append(b []byte) []byte {
	at := func(name string, millis int64) {
		b = append(append(b, name...), time.UnixMilli(millis).UTC().Format("2006-01-02T15:04:05.000Z")...)
	}
	b = strconv.AppendInt(append(b, `{"id":`...), o.id, 10)
	b = strconv.AppendInt(append(b, `,"petId":`...), o.pet, 10)
	b = append(b, `,"status":"`...)
	if o.closed == 0 {
		b = append(b, "open"...)
	} else {
		b = append(b, "completed"...)
	}
	at(`","createdAt":"`, o.created)
	at(`","expiresAt":"`, o.expires)
	if o.closed != 0 {
		at(`","closedAt":"`, o.closed)
	}
	return append(b, `"}`...)
}
