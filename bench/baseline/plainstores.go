package baseline

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

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
