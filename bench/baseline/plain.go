package baseline

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// pet is an animal as the interface shows it.
type pet struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	CategoryID int64  `json:"categoryId"`
	Status     string `json:"status"`
}

// In petstore's table a status is a number.
var (
	numbers = map[string]int64{"available": 1, "pending": 2, "sold": 3}
	names   = []string{1: "available", 2: "pending", 3: "sold"}
)

// columns are those of a pet, from petstore's table.
const columns = "SELECT id, name, category_id, status FROM pets "

var errNotFound = errors.New("there is no such animal")

// plainStore answers each request with one query.
type plainStore interface {
	list(ctx context.Context, before, limit int64) ([]pet, error)
	get(ctx context.Context, id int64) (pet, error)
	add(ctx context.Context, p pet) (id int64, err error) // in a commit of its own, durable when it returns
}

// Plain is the service that a good Go programmer writes by hand: net/http, a driver, one query a request, durable creates.
// It checks the key in a map, and has no limits, no access log and no metrics.
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
		before, err1 := number(query.Get("cursor"), math.MaxInt64)
		limit, err2 := number(query.Get("limit"), 20)
		if err := errors.Join(err1, err2); err != nil || limit < 1 || limit > 100 {
			return nil, errors.Join(err, errors.New("limit must be from 1 to 100"))
		}
		return store.list(r.Context(), before, limit)
	})
	handle("GET /v1/pets/{id}", http.StatusOK, func(r *http.Request) (any, error) {
		id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		if err != nil {
			return nil, errNotFound
		}
		return store.get(r.Context(), id)
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

func number(text string, otherwise int64) (int64, error) {
	if text == "" {
		return otherwise, nil
	}
	return strconv.ParseInt(text, 10, 64)
}

// plainPostgres uses as many connections as the URL says.
type plainPostgres struct{ *pgxpool.Pool }

func openPostgres(url string) (plainStore, error) {
	pool, err := pgxpool.New(context.Background(), url)
	return plainPostgres{pool}, err
}

func (s plainPostgres) list(ctx context.Context, before, limit int64) ([]pet, error) {
	rows, _ := s.Query(ctx, columns+"WHERE id < $1 ORDER BY id DESC LIMIT $2", before, limit)
	return pgx.AppendRows(make([]pet, 0, limit), rows, scan)
}

func (s plainPostgres) get(ctx context.Context, id int64) (pet, error) {
	rows, _ := s.Query(ctx, columns+"WHERE id = $1", id)
	p, err := pgx.CollectOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		err = errNotFound
	}
	return p, err
}

func scan(row pgx.CollectableRow) (p pet, err error) {
	var status int
	err = row.Scan(&p.ID, &p.Name, &p.CategoryID, &status)
	p.Status = names[status]
	return p, err
}

func (s plainPostgres) add(ctx context.Context, p pet) (id int64, err error) {
	err = s.QueryRow(ctx, "INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING id", p.Name, p.CategoryID, numbers[p.Status]).Scan(&id)
	return id, err
}

// plainSQLite reads on several connections and writes on one, with petstore's durability.
type plainSQLite struct {
	readers *sqlitex.Pool
	mu      sync.Mutex
	writer  *sqlite.Conn
}

func openSQLite(url string) (plainStore, error) {
	path := strings.TrimPrefix(url, "sqlite:")
	writer, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	for _, setting := range []string{"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL"} {
		if err := sqlitex.ExecuteTransient(writer, setting, nil); err != nil {
			return nil, err
		}
	}
	readers, err := sqlitex.NewPool(path, sqlitex.PoolOptions{Flags: sqlite.OpenReadOnly, PoolSize: 4})
	return &plainSQLite{readers: readers, writer: writer}, err
}

func (s *plainSQLite) query(ctx context.Context, query string, args ...int64) (pets []pet, err error) {
	conn, err := s.readers.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer s.readers.Put(conn)
	stmt, err := conn.Prepare(columns + query) // once on each connection
	if err != nil {
		return nil, err
	}
	defer stmt.Reset()
	for i, arg := range args {
		stmt.BindInt64(i+1, arg)
	}
	for {
		if more, err := stmt.Step(); err != nil || !more {
			return pets, err
		}
		pets = append(pets, pet{stmt.ColumnInt64(0), stmt.ColumnText(1), stmt.ColumnInt64(2), names[stmt.ColumnInt64(3)]})
	}
}

func (s *plainSQLite) list(ctx context.Context, before, limit int64) ([]pet, error) {
	return s.query(ctx, "WHERE id < ?1 ORDER BY id DESC LIMIT ?2", before, limit)
}

func (s *plainSQLite) get(ctx context.Context, id int64) (pet, error) {
	pets, err := s.query(ctx, "WHERE id = ?1", id)
	if err != nil || len(pets) == 0 {
		return pet{}, errors.Join(err, errNotFound)
	}
	return pets[0], nil
}

func (s *plainSQLite) add(_ context.Context, p pet) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := sqlitex.Execute(s.writer, "INSERT INTO pets (name, category_id, status) VALUES (?1, ?2, ?3)", &sqlitex.ExecOptions{Args: []any{p.Name, p.CategoryID, numbers[p.Status]}})
	return s.writer.LastInsertRowID(), err
}
