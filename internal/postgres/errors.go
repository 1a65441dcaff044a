package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"petstore/internal/batch"
	"petstore/internal/petstore"
)

// The SQLSTATEs that this package treats specially.
const (
	readOnlyTransaction   = "25006"
	invalidAuthorization  = "28000"
	invalidPassword       = "28P01"
	invalidCatalogName    = "3D000"
	insufficientPrivilege = "42501"
	undefinedColumn       = "42703"
	duplicateTable        = "42P07"
	lockNotAvailable      = "55P03"
	adminShutdown         = "57P01"
	crashShutdown         = "57P02"
)

func sqlState(err error) string {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code
	}
	return ""
}

// programFaults are the classes of SQLSTATEs that only a bug in this program causes: unsupported features, invalid data,
// violated constraints, invalid SQL, exceeded limits.
var programFaults = []string{"0A", "22", "23", "42", "54"}

// isFaulty reports whether only a bug in this program causes the error.
func isFaulty(err error) bool {
	state := sqlState(err)
	return state != "" && slices.Contains(programFaults, state[:2])
}

// failure translates an error from the driver for the callers of a Storage: to NotDone, unless this program is at fault.
func failure(err error) error {
	if _, refused := errors.AsType[*petstore.Error](err); refused || err == nil {
		return err
	}
	if isFaulty(err) {
		return err
	}
	return petstore.NotDone(err)
}

// writeFailure is like failure, but for a write that may have reached the server. The error is NotDone only if the server
// says that it has rolled the write back, or if nothing was sent. Otherwise the error is MaybeDone.
func writeFailure(err error) error {
	_, refused := errors.AsType[*petstore.Error](err)
	switch {
	case err == nil, refused, rolledBack(err):
		return failure(err)
	case neverSent(err), errors.Is(err, batch.ErrClosed):
		return petstore.NotDone(err)
	}
	return petstore.MaybeDone(err)
}

// neverSent reports whether nothing reached the server. The driver claims the same for a closed connection, but that
// connection may have broken after a COMMIT was sent.
func neverSent(err error) bool {
	return pgconn.SafeToRetry(err) && !errors.Is(err, pgconn.ErrConnClosed)
}

// rolledBack reports whether the server says that it has rolled back the transaction. The server never answers ERROR or
// FATAL to a transaction that it has committed, not even if its wait for a standby is cut off. A PANIC may come in the
// middle of a commit. Class 08 means that a pooler has lost the server.
func rolledBack(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.SeverityUnlocalized != "PANIC" && !strings.HasPrefix(pg.Code, "08")
}

// connectionLost reports whether a connection broke while it was in use. A connection breaks, for example, when it is used
// for the first time after the server has gone.
func connectionLost(err error) bool {
	var unconnected *pgconn.ConnectError
	if errors.As(err, &unconnected) {
		return false
	}
	switch sqlState(err) {
	case adminShutdown, crashShutdown:
		return true
	}
	var network *net.OpError
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, pgconn.ErrConnClosed)
}

// refusal explains in one sentence why a database cannot be opened, and what to do. It does not show the password.
func refusal(config *pgx.ConnConfig, err error) error {
	name := fmt.Sprintf("the PostgreSQL database %s at %s", config.Database, strings.Join(hosts(config), ", "))
	var unconnected *pgconn.ConnectError
	var why unusable
	switch {
	case errors.As(err, &unconnected):
		return connectRefusal(name, config, unconnected.Unwrap())
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s does not answer; check that it is running", name)
	case errors.As(err, &why):
		return fmt.Errorf("%s %w", name, why)
	}
	switch sqlState(err) {
	case duplicateTable, undefinedColumn:
		return fmt.Errorf("%s is the database of another program; choose another --database", name)
	case insufficientPrivilege:
		return fmt.Errorf("the user %s lacks a right in %s; grant this user CREATE on its schema, SELECT, INSERT, UPDATE and DELETE on its tables, and SELECT, UPDATE and USAGE on its sequences (%w)", config.User, name, err)
	}
	return fmt.Errorf("%s cannot be used (%w)", name, err)
}

// connectRefusal explains why petstore cannot connect. If a server answered, the server's reason comes before the failures
// at other hosts or without TLS.
func connectRefusal(name string, config *pgx.ConnConfig, err error) error {
	switch sqlState(err) {
	case invalidPassword:
		return fmt.Errorf("%s refuses the password of the user %s; correct it in --database", name, config.User)
	case invalidAuthorization:
		return fmt.Errorf("%s does not let the user %s in; correct the user in --database, or the server's pg_hba.conf (%s)", name, config.User, oneLine(err))
	case invalidCatalogName:
		return fmt.Errorf("there is no database %s at %s; create it, or correct its name in --database", config.Database, strings.Join(hosts(config), ", "))
	}
	if answered, ok := errors.AsType[*pgconn.PgError](err); ok {
		return fmt.Errorf("%s cannot be used: %s (%s)", name, answered.Message, oneLine(err))
	}
	return fmt.Errorf("%s cannot be reached: %s", name, oneLine(err))
}

func hosts(config *pgx.ConnConfig) []string {
	var all []string
	for _, m := range members(config) {
		all = append(all, m.address)
	}
	return all
}

// oneLine joins the lines of an error. Such an error has one line for each host.
func oneLine(err error) string {
	return strings.Join(slices.Compact(strings.Split(err.Error(), "\n")), "; ")
}
