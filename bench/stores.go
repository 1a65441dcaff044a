package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"petstore/bench/report"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// startStores starts PostgreSQL and Redis with their default settings.
func (b *bench) startStores() (err error) {
	if b.postgres, err = b.startPostgres(); err != nil {
		return fmt.Errorf("it needs PostgreSQL (Debian: apt-get install postgresql): %w", err)
	}
	if b.redis, err = b.startRedis(); err != nil {
		return fmt.Errorf("it needs Redis or Valkey (Debian: apt-get install redis-server): %w", err)
	}
	return nil
}

func (b *bench) startPostgres() (*service, error) {
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin"); len(found) > 0 { // the folder where Debian installs PostgreSQL
		os.Setenv("PATH", os.Getenv("PATH")+":"+slices.Max(found))
	}
	s := b.newService(report.Subject{ID: "store", Name: "PostgreSQL", Detail: versionOf("postgres")}, nil)
	if err := s.dropRoot(); err != nil {
		return nil, err
	}
	initdb := exec.Command("initdb", "--pgdata", "data", "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C")
	initdb.Dir, initdb.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: s.user}
	if err := runCommand(initdb); err != nil {
		return nil, err
	}
	return s.start(exec.Command("postgres", "-D", "data", "-p", s.port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="),
		func() error { return s.sql("postgres", "SELECT 1") })
}

// dropRoot makes PostgreSQL run as the user postgres if the bench runs as root, because PostgreSQL refuses to run as root.
// It gives the service's folder to that user.
func (s *service) dropRoot() error {
	if os.Geteuid() != 0 {
		return nil
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		return err
	}
	uid, _ := strconv.Atoi(who.Uid)
	gid, _ := strconv.Atoi(who.Gid)
	s.user = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(s.dir, uid, gid)
}

// url returns the URL of a database on this PostgreSQL server.
func (s *service) url(database string) string {
	return "postgres://postgres@" + s.address + "/" + database + "?sslmode=disable"
}

// sql runs a statement on a database of this PostgreSQL server. If the caller passes targets, sql scans the first row into
// the targets.
func (s *service) sql(database, statement string, into ...any) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.url(database))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if len(into) > 0 {
		return conn.QueryRow(ctx, statement).Scan(into...)
	}
	_, err = conn.Exec(ctx, statement)
	return err
}

func (b *bench) startRedis() (*service, error) {
	program := "redis-server"
	if _, err := exec.LookPath(program); err != nil {
		program = "valkey-server"
	}
	s := b.newService(report.Subject{ID: "limits", Name: "Redis", Detail: versionOf(program)}, nil)
	return s.start(exec.Command(program, "--port", s.port, "--bind", "127.0.0.1"), func() error {
		conn, err := net.Dial("tcp", s.address)
		if err == nil {
			conn.Close()
		}
		return err
	})
}

// version matches a version number, such as 17.2.
var version = regexp.MustCompile(`\d+(\.\d+)+`)

// versionOf returns the version that a program prints, or "" if the program is not installed.
func versionOf(program string) string { return version.FindString(output(program, "--version")) }

// animal is an SQL query that makes up animals. A page of 20 such animals is about 1.6 kB of JSON.
const animal = "SELECT 'Pet number ' || i, i % 40 + 1, i % 3 + 1 FROM "

// tooManyToIndex is a number of animals that petstore would index for minutes, in the background, while it is measured. So
// the bench tells it that they are indexed. Nothing searches among so many animals here, and nothing changes them.
const tooManyToIndex = 1_000_000

// seed makes a database with the given number of animals for a service, and returns the URL of the database.
func (b *bench) seed(s *service, database string, rows int64) (url string, err error) {
	if strings.HasSuffix(s.ID, report.SQLite) {
		path := filepath.Join(s.dir, "petstore.db")
		return "sqlite:" + path, b.seedSQLite(path, rows)
	}
	return b.postgres.url(database), b.seedPostgres(database, rows)
}

func (b *bench) seedSQLite(path string, rows int64) error {
	maker := b.newService(b.subject(report.SQLite), petstoreLines(rows)) // only a server makes an SQLite database
	if _, err := maker.launch(b.serve(maker, "sqlite:"+path)); err != nil {
		return err
	}
	maker.stop()
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, statement := range []string{
		"PRAGMA cache_size = -262144",
		fmt.Sprintf("INSERT INTO pets (name, category_id, status) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) %s n", rows, animal),
		// On SQLite, the program counts the animals when it writes them. The statement above writes animals without the
		// program, so the counts have to be set here.
		"UPDATE inventory SET animals = (SELECT count(*) FROM pets WHERE pets.status = inventory.status)",
		fmt.Sprintf("UPDATE word_index SET upto = (SELECT max(id) FROM pets) WHERE %d >= %d", rows, tooManyToIndex),
		"PRAGMA wal_checkpoint(TRUNCATE)",
	} {
		if err := sqlitex.ExecuteTransient(conn, statement, nil); err != nil {
			return fmt.Errorf("filling SQLite: %w", err)
		}
	}
	return nil
}

// seedPostgres makes a database, and leaves it in the state that PostgreSQL's own maintenance would produce. It returns the
// first error.
func (b *bench) seedPostgres(database string, rows int64) error {
	return cmp.Or(
		b.postgres.sql("postgres", "CREATE DATABASE "+database+" TEMPLATE template0"),
		b.migratePostgres(database),
		b.postgres.sql(database, fmt.Sprintf("SET petstore.copying = 'on'; INSERT INTO pets (name, category_id, status) %s generate_series(1, %d::bigint) i ORDER BY i", animal, rows)),
		b.postgres.sql(database, fmt.Sprintf("DELETE FROM marked_blocks WHERE %d >= %d", rows, tooManyToIndex)),
		b.postgres.sql(database, "VACUUM ANALYZE pets"),
		b.postgres.sql(database, "CHECKPOINT"),
	)
}

func (b *bench) migratePostgres(database string) error {
	cmd := exec.Command(b.binary, "migrate", "--database", b.postgres.url(database))
	cmd.Env = cleanEnvironment()
	return runCommand(cmd)
}
