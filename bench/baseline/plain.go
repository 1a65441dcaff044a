// Package baseline is a plain hand-written service. The bench compares petstore with it.
package baseline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// pet is an animal as the API shows it.
type pet struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	CategoryID int64  `json:"categoryId"`
	Status     string `json:"status"`
}

// The table of petstore stores a status as a number.
var (
	numbers = map[string]int64{"available": 1, "pending": 2, "sold": 3}
	names   = []string{1: "available", 2: "pending", 3: "sold"}
)

// These SQL statements are the same for both databases.
const (
	list = "SELECT id, name, category_id, status FROM pets WHERE id < $1 ORDER BY id DESC LIMIT $2"
	get  = "SELECT id, name, category_id, status FROM pets WHERE id = $1"
	add  = "INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3)"
)

// aboveAll is a cursor that lies above the ids of all animals.
const aboveAll = "9223372036854775807"

var errNotFound = errors.New("there is no such animal")

type store interface {
	query(ctx context.Context, query string, args ...any) ([]pet, error)
	add(ctx context.Context, p pet) (id int64, err error) // commits each animal separately, durably when add returns
}

// Plain returns the service that a good Go programmer would write by hand. It uses net/http, a database driver, one query
// per request and durable creates. It looks up the key in a map, and has no limits, no access log and no metrics.
func Plain(database, key string) (http.Handler, error) {
	open := openSQLite
	if strings.HasPrefix(database, "postgres:") {
		open = openPostgres
	}
	store, err := open(database)
	if err != nil {
		return nil, err
	}
	keys := map[string]bool{"Bearer " + key: true}
	mux := http.NewServeMux()
	handle := func(pattern string, status int, answer func(r *http.Request) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if !keys[r.Header.Get("Authorization")] {
				http.Error(w, "the key is not known", http.StatusUnauthorized)
				return
			}
			what, err := answer(r)
			switch {
			case errors.Is(err, errNotFound):
				http.Error(w, err.Error(), http.StatusNotFound)
				return
			case err != nil:
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			body, _ := json.Marshal(what)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			w.Write(body)
		})
	}
	handle("GET /v1/pets", http.StatusOK, func(r *http.Request) (any, error) {
		query := r.URL.Query()
		before, err1 := strconv.ParseInt(cmp.Or(query.Get("cursor"), aboveAll), 10, 64)
		limit, err2 := strconv.ParseInt(cmp.Or(query.Get("limit"), "20"), 10, 64)
		if err := errors.Join(err1, err2); err != nil || limit < 1 || limit > 100 {
			return nil, errors.Join(err, errors.New("limit must be from 1 to 100"))
		}
		return store.query(r.Context(), list, before, limit)
	})
	handle("GET /v1/pets/{id}", http.StatusOK, func(r *http.Request) (any, error) {
		id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		if err != nil {
			return nil, errNotFound
		}
		pets, err := store.query(r.Context(), get, id)
		if err != nil || len(pets) == 0 {
			return nil, cmp.Or(err, errNotFound)
		}
		return pets[0], nil
	})
	handle("POST /v1/pets", http.StatusCreated, func(r *http.Request) (any, error) {
		var p pet
		if err := json.NewDecoder(r.Body).Decode(&p); err != nil || p.Name == "" || numbers[p.Status] == 0 {
			return nil, errors.Join(err, errors.New("the body is not a whole animal"))
		}
		id, err := store.add(r.Context(), p)
		p.ID = id
		return p, err
	})
	return mux, nil
}

// postgres is a store on PostgreSQL. The URL says how many connections it uses.
type postgres struct{ *pgxpool.Pool }

func openPostgres(url string) (store, error) {
	pool, err := pgxpool.New(context.Background(), url)
	return postgres{pool}, err
}

func (s postgres) query(ctx context.Context, query string, args ...any) ([]pet, error) {
	rows, _ := s.Query(ctx, query, args...)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (p pet, err error) {
		var status int
		err = row.Scan(&p.ID, &p.Name, &p.CategoryID, &status)
		p.Status = names[status]
		return p, err
	})
}

func (s postgres) add(ctx context.Context, p pet) (id int64, err error) {
	err = s.QueryRow(ctx, add+" RETURNING id", p.Name, p.CategoryID, numbers[p.Status]).Scan(&id)
	return id, err
}

// embedded is a store on SQLite with petstore's durability. It reads on several connections and writes on one connection.
type embedded struct {
	readers *sqlitex.Pool
	mu      sync.Mutex
	writer  *sqlite.Conn
}

func openSQLite(url string) (store, error) {
	path := strings.TrimPrefix(url, "sqlite:")
	writer, err := sqlite.OpenConn(path, sqlite.OpenReadWrite, sqlite.OpenWAL)
	if err != nil {
		return nil, err
	}
	if err := sqlitex.ExecuteTransient(writer, "PRAGMA synchronous = FULL", nil); err != nil {
		return nil, err
	}
	readers, err := sqlitex.NewPool(path, sqlitex.PoolOptions{Flags: sqlite.OpenReadOnly, PoolSize: 4})
	return &embedded{readers: readers, writer: writer}, err
}

func (s *embedded) query(ctx context.Context, query string, args ...any) (pets []pet, err error) {
	conn, err := s.readers.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer s.readers.Put(conn)
	err = sqlitex.Execute(conn, query, &sqlitex.ExecOptions{Args: args, ResultFunc: func(stmt *sqlite.Stmt) error {
		pets = append(pets, pet{stmt.ColumnInt64(0), stmt.ColumnText(1), stmt.ColumnInt64(2), names[stmt.ColumnInt64(3)]})
		return nil
	}})
	return pets, err
}

func (s *embedded) add(_ context.Context, p pet) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := sqlitex.Execute(s.writer, add, &sqlitex.ExecOptions{Args: []any{p.Name, p.CategoryID, numbers[p.Status]}})
	return s.writer.LastInsertRowID(), err
}
