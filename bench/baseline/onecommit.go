package baseline

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"

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

var statuses = map[string]int64{"available": 1, "pending": 2, "sold": 3}

// insert stores an animal in a commit of its own and returns its id when that is durable.
type insert func(ctx context.Context, p pet) (int64, error)

// oneCommitEach answers creates and nothing else. Like Bare it has no key, limit or log: it has less to do than petstore,
// and what petstore gains on it by sharing commits is after the cost of all that.
func oneCommitEach(store insert) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var p pet
		err := json.NewDecoder(r.Body).Decode(&p)
		if err != nil || p.Name == "" || statuses[p.Status] == 0 {
			http.Error(w, "the body is not a whole animal", http.StatusBadRequest)
			return
		}
		if p.ID, err = store(r.Context(), p); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		body, _ := json.Marshal(p)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		w.Write(body)
	})
}

// OneCommitSQLite commits every create by itself to petstore's table, through petstore's driver and with petstore's
// durability.
func OneCommitSQLite(path string) (http.Handler, error) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	for _, setting := range []string{"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL"} {
		if err := sqlitex.ExecuteTransient(conn, setting, nil); err != nil {
			return nil, err
		}
	}
	stmt, err := conn.Prepare("INSERT INTO pets (name, category_id, status) VALUES (?1, ?2, ?3)")
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	return oneCommitEach(func(_ context.Context, p pet) (int64, error) {
		mu.Lock()
		defer mu.Unlock()
		defer stmt.Reset()
		stmt.BindText(1, p.Name)
		stmt.BindInt64(2, p.CategoryID)
		stmt.BindInt64(3, statuses[p.Status])
		_, err := stmt.Step()
		return conn.LastInsertRowID(), err
	}), nil
}

// OneCommitPostgres commits every create by itself to petstore's table, on as many connections as the URL says.
func OneCommitPostgres(url string) (http.Handler, error) {
	pool, err := pgxpool.New(context.Background(), url)
	if err != nil {
		return nil, err
	}
	return oneCommitEach(func(ctx context.Context, p pet) (id int64, err error) {
		row := pool.QueryRow(ctx, "INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING id", p.Name, p.CategoryID, statuses[p.Status])
		return id, row.Scan(&id)
	}), nil
}
