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
)

// store is a PostgreSQL or a Redis that runs.
type store struct {
	*process
	address, version string
}

// startPostgres starts one with the settings that it comes with: what it has committed is on the disk.
func startPostgres(scratch string) (*store, error) {
	programs, err := postgresPrograms()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(scratch, "postgres-")
	if err != nil {
		return nil, err
	}
	attr, err := ordinaryUser(dir)
	if err != nil {
		return nil, err
	}
	initdb := exec.Command(filepath.Join(programs, "initdb"), "--pgdata", "data", "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C")
	initdb.Dir, initdb.SysProcAttr = dir, attr
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	s := &store{}
	if s.address, err = freeAddress(); err != nil {
		return nil, err
	}
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

// startRedis starts a Redis or Valkey with the settings that it comes with.
func startRedis(scratch string) (*store, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		program, err = exec.LookPath("valkey-server")
	}
	if err != nil {
		return nil, errors.New("redis-server is not on the PATH; install Redis or Valkey (Debian: apt-get install redis-server)")
	}
	dir, err := os.MkdirTemp(scratch, "redis-")
	if err != nil {
		return nil, err
	}
	s := &store{version: versionIn(program, "--version")}
	if s.address, err = freeAddress(); err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(s.address)
	s.process, err = start(exec.Command(program, "--port", port, "--bind", "127.0.0.1"), dir, func() error {
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
