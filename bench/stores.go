package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"petstore/bench/result"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// store is a PostgreSQL or a Redis that runs.
type store struct {
	*process
	address, version string
}

// startStores starts PostgreSQL and Redis, with the settings that they come with.
func (b *bench) startStores() error {
	postgres, err := startPostgres(b.scratch)
	if err != nil {
		return fmt.Errorf("it needs PostgreSQL: %w", err)
	}
	redis, err := startRedis(b.scratch)
	if err != nil {
		postgres.stop()
		return fmt.Errorf("its limits need Redis: %w", err)
	}
	b.postgres, b.redis = postgres, redis
	return nil
}

func startPostgres(scratch string) (*store, error) {
	programs, err := postgresPrograms()
	if err != nil {
		return nil, err
	}
	dir := must(os.MkdirTemp(scratch, "postgres-"))
	attr, err := ordinaryUser(dir)
	if err != nil {
		return nil, err
	}
	initdb := exec.Command(filepath.Join(programs, "initdb"), "--pgdata", "data", "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C")
	initdb.Dir, initdb.SysProcAttr = dir, attr
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	s := &store{address: freeAddress()}
	_, port, _ := net.SplitHostPort(s.address)
	server := exec.Command(filepath.Join(programs, "postgres"), "-D", "data", "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=")
	server.SysProcAttr = attr
	s.process, err = start(server, dir, func() error {
		return s.do("postgres", func(ctx context.Context, conn *pgx.Conn) error {
			return conn.QueryRow(ctx, "SELECT split_part(version(), ' ', 2)").Scan(&s.version)
		})
	})
	return s, err
}

// url leads to a database of this server.
func (s *store) url(database string) string {
	return "postgres://postgres@" + s.address + "/" + database + "?sslmode=disable"
}

// do works on a database.
func (s *store) do(database string, work func(context.Context, *pgx.Conn) error) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.url(database))
	if err != nil {
		return err
	}
	return errors.Join(work(ctx, conn), conn.Close(ctx))
}

// exec runs statements on a database.
func (s *store) exec(database string, statements ...string) error {
	return s.do(database, func(ctx context.Context, conn *pgx.Conn) error {
		for _, statement := range statements {
			if _, err := conn.Exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}

func postgresPrograms() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		path, err = filepath.EvalSymlinks(path)
		return filepath.Dir(path), err
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(found) == 0 {
		return "", errors.New("initdb is not on the PATH; install PostgreSQL (Debian: apt-get install postgresql)")
	}
	return slices.Max(found), nil
}

// ordinaryUser is whom PostgreSQL runs as, since it refuses to be root; the folder becomes this user's.
func ordinaryUser(dir string) (*syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return &syscall.SysProcAttr{}, nil
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		who, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, err
	}
	uid, _ := strconv.Atoi(who.Uid)
	gid, _ := strconv.Atoi(who.Gid)
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, os.Chown(dir, uid, gid)
}

// startRedis starts a Redis or Valkey.
func startRedis(scratch string) (*store, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		program, err = exec.LookPath("valkey-server")
	}
	if err != nil {
		return nil, errors.New("redis-server is not on the PATH; install Redis or Valkey (Debian: apt-get install redis-server)")
	}
	s := &store{address: freeAddress(), version: versionIn(program, "--version")}
	_, port, _ := net.SplitHostPort(s.address)
	s.process, err = start(exec.Command(program, "--port", port, "--bind", "127.0.0.1"), must(os.MkdirTemp(scratch, "redis-")), func() error {
		conn, err := net.Dial("tcp", s.address)
		if err == nil {
			conn.Close()
		}
		return err
	})
	return s, err
}

// versionIn is the first number with points in it of what a program says of itself.
func versionIn(program string, args ...string) string {
	out, _ := exec.Command(program, args...).CombinedOutput()
	for _, field := range strings.Fields(string(out)) {
		field = strings.TrimPrefix(strings.TrimPrefix(field, "v="), "v")
		if strings.Contains(field, ".") && field[0] >= '0' && field[0] <= '9' {
			return field
		}
	}
	return "of unknown version"
}

// A page of 20 of these animals is about 1.6 kB of JSON.
const animal = "SELECT 'Pet number ' || i, i % 40 + 1, i % 3 + 1 FROM "

// seed makes the database of a service with that many animals, and returns its URL.
func (b *bench) seed(s *service, database string, rows int64) (url string, err error) {
	if s.ID == result.SQLite || s.ID == result.PlainSQLite {
		path := filepath.Join(s.dir, "petstore.db")
		return "sqlite:" + path, b.seedSQLite(path, rows)
	}
	return b.postgres.url(database), b.seedPostgres(database, rows)
}

func (b *bench) seedSQLite(path string, rows int64) error {
	if err := b.migrate("sqlite:" + path); err != nil {
		return err
	}
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, statement := range []string{
		"PRAGMA cache_size = -262144",
		fmt.Sprintf("INSERT INTO pets (name, category_id, status) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) %s n", rows, animal),
		// The program counts what it stores itself; on PostgreSQL the database does.
		"UPDATE inventory SET animals = (SELECT count(*) FROM pets WHERE pets.status = inventory.status)",
		"PRAGMA wal_checkpoint(TRUNCATE)",
	} {
		if err := sqlitex.ExecuteTransient(conn, statement, nil); err != nil {
			return fmt.Errorf("filling SQLite: %w", err)
		}
	}
	return nil
}

// seedPostgres leaves the database in the state in which the server's own upkeep would.
func (b *bench) seedPostgres(database string, rows int64) error {
	if err := b.postgres.exec("postgres", "CREATE DATABASE "+database+" TEMPLATE template0"); err != nil {
		return err
	}
	if err := b.migrate(b.postgres.url(database)); err != nil {
		return err
	}
	return b.postgres.exec(database,
		fmt.Sprintf("INSERT INTO pets (name, category_id, status) %s generate_series(1, %d::bigint) i ORDER BY i", animal, rows), "VACUUM ANALYZE pets", "CHECKPOINT")
}

func (b *bench) migrate(database string) error {
	cmd := exec.Command(b.binary, "migrate", "--database", database)
	cmd.Env = cleanEnvironment()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("petstore migrate: %w\n%s", err, out)
	}
	return nil
}
