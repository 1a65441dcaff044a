package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"petstore/internal/batch"
	"petstore/internal/petstore"
)

// The SQLSTATEs that are told apart.
const (
	readOnlyTransaction   = "25006"
	insufficientPrivilege = "42501"
	undefinedColumn       = "42703"
	duplicateTable        = "42P07"
	adminShutdown         = "57P01"
	crashShutdown         = "57P02"
)

func sqlState(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// faults are the classes of SQLSTATEs that only a fault of this program brings about: features that are not there, wrong
// data, broken constraints, wrong SQL, exceeded limits.
var faults = []string{"0A", "22", "23", "42", "54"}

// failure makes of an error of the driver what every caller of a Storage knows. What is no fault of ours means that the
// database cannot do it now.
func failure(err error) error {
	var refused *petstore.Error
	if err == nil || errors.As(err, &refused) {
		return err
	}
	if state := sqlState(err); state != "" && slices.Contains(faults, state[:2]) {
		return err
	}
	return petstore.Unreachable(err)
}

// outcome is failure for a write that may have reached the server. Only where the server says that it has undone it, or
// nothing was sent, is it known not to have happened.
func outcome(err error) error {
	var refused *petstore.Error
	switch {
	case err == nil, errors.As(err, &refused), undone(err):
		return failure(err)
	case unsent(err), errors.Is(err, batch.ErrClosed):
		return petstore.Unreachable(err)
	}
	return petstore.Unknown(err)
}

// unsent reports whether nothing reached the server. Of a connection that is closed the driver says so too, even if that
// broke only after a COMMIT was sent.
func unsent(err error) bool {
	return pgconn.SafeToRetry(err) && !errors.Is(err, pgconn.ErrConnClosed)
}

// undone reports whether the server says that it has undone the transaction. It says ERROR or FATAL of nothing that it has
// committed: a wait for a standby that is cut off ends without either. A PANIC may come amid a commit, and with class 08 a
// pooler tells that it has lost the server.
func undone(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.SeverityUnlocalized != "PANIC" && !strings.HasPrefix(pg.Code, "08")
}

// lost reports whether a connection broke while it was used, as the idle ones do when their server goes.
func lost(err error) bool {
	var unreachable *pgconn.ConnectError
	if errors.As(err, &unreachable) {
		return false
	}
	switch sqlState(err) {
	case adminShutdown, crashShutdown:
		return true
	}
	var network *net.OpError
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, pgconn.ErrConnClosed)
}

// refusal says in one sentence why a database cannot be opened and what to do, naming it without its password.
func refusal(config *pgx.ConnConfig, err error) error {
	name := fmt.Sprintf("the PostgreSQL database %s at %s", config.Database, strings.Join(hosts(config), ", "))
	var unreachable *pgconn.ConnectError
	var why unusable
	switch {
	case errors.As(err, &unreachable):
		return fmt.Errorf("%s cannot be reached: %s", name, sentence(unreachable.Unwrap()))
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s does not answer; check that it runs", name)
	case errors.As(err, &why):
		return fmt.Errorf("%s %w", name, why)
	}
	switch sqlState(err) {
	case duplicateTable, undefinedColumn:
		return fmt.Errorf("%s is the database of another program; choose another --database", name)
	case insufficientPrivilege:
		return fmt.Errorf("the user %s may not make tables in %s; grant it CREATE on its schema (%w)", config.User, name, err)
	}
	return fmt.Errorf("%s cannot be used (%w)", name, err)
}

func hosts(config *pgx.ConnConfig) []string {
	all := []string{net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))}
	for _, other := range config.Fallbacks {
		all = append(all, net.JoinHostPort(other.Host, strconv.Itoa(int(other.Port))))
	}
	return slices.Compact(all) // a host is there twice where TLS is optional
}

// sentence puts an error of several hosts, one a line, on one line.
func sentence(err error) string {
	return strings.Join(slices.Compact(strings.Split(err.Error(), "\n")), "; ")
}
