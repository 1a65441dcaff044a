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
	"time"

	"github.com/jackc/pgx/v5"
)

// postgresServer is a PostgreSQL with the settings that it comes with: what it has committed is on the disk.
type postgresServer struct {
	*process
	address string
	version string
}

func startPostgres(parent string) (*postgresServer, error) {
	programs, err := postgresPrograms()
	if err != nil {
		return nil, err
	}
	attr, err := ordinaryUser()
	if err != nil {
		return nil, err
	}
	dir, err := folder(parent, "postgres")
	if err != nil {
		return nil, err
	}
	if c := attr.Credential; c != nil {
		if err := os.Chown(dir, int(c.Uid), int(c.Gid)); err != nil {
			return nil, err
		}
	}
	initdb := exec.Command(filepath.Join(programs, "initdb"), "--pgdata", "data", "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C")
	initdb.Dir, initdb.SysProcAttr = dir, attr
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	s := &postgresServer{}
	if s.address, err = freeAddress(); err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(s.address)
	server := exec.Command(filepath.Join(programs, "postgres"), "-D", "data", "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=")
	server.SysProcAttr = attr
	if s.process, err = start(server, dir); err != nil {
		return nil, err
	}
	return s, s.wait(func() error {
		return s.do("postgres", func(ctx context.Context, conn *pgx.Conn) error {
			return conn.QueryRow(ctx, "SELECT split_part(version(), ' ', 2)").Scan(&s.version)
		})
	})
}

// url leads to a database of this server.
func (s *postgresServer) url(database string) string {
	return "postgres://postgres@" + s.address + "/" + database + "?sslmode=disable"
}

// do works on a database.
func (s *postgresServer) do(database string, work func(context.Context, *pgx.Conn) error) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.url(database))
	if err != nil {
		return err
	}
	return errors.Join(work(ctx, conn), conn.Close(ctx))
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

// ordinaryUser is whom PostgreSQL runs as, since it refuses to be root.
func ordinaryUser() (*syscall.SysProcAttr, error) {
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
	uid, _ := strconv.ParseUint(who.Uid, 10, 32)
	gid, _ := strconv.ParseUint(who.Gid, 10, 32)
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// redisServer is a Redis or Valkey with the settings that it comes with.
type redisServer struct {
	*process
	address string
	version string
}

func startRedis(parent string) (*redisServer, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		program, err = exec.LookPath("valkey-server")
	}
	if err != nil {
		return nil, errors.New("redis-server is not on the PATH; install Redis or Valkey (Debian: apt-get install redis-server)")
	}
	dir, err := folder(parent, "redis")
	if err != nil {
		return nil, err
	}
	s := &redisServer{version: versionIn(program, "--version")}
	if s.address, err = freeAddress(); err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(s.address)
	if s.process, err = start(exec.Command(program, "--port", port, "--bind", "127.0.0.1"), dir); err != nil {
		return nil, err
	}
	return s, s.wait(func() error {
		conn, err := net.DialTimeout("tcp", s.address, time.Second)
		if err == nil {
			conn.Close()
		}
		return err
	})
}

// versionIn is what a program says of itself, up to the first number that has points in it.
func versionIn(program string, args ...string) string {
	out, _ := exec.Command(program, args...).CombinedOutput()
	for _, field := range strings.Fields(string(out)) {
		field = strings.TrimPrefix(strings.TrimPrefix(field, "v="), "v")
		if strings.Count(field, ".") > 0 && field[0] >= '0' && field[0] <= '9' {
			return field
		}
	}
	return "of unknown version"
}
