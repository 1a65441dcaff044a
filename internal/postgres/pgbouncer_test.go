package postgres

import (
	"testing"

	"petstore/internal/conformance"
	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// docs/pgbouncer.md tells operators to use both settings: ignore_startup_parameters and default_query_exec_mode.
func TestStorageThroughPgBouncerInTransactionMode(t *testing.T) {
	ignored := "statement_timeout,idle_in_transaction_session_timeout,default_transaction_isolation,plan_cache_mode,enable_seqscan,enable_sort,jit"
	bouncer := testservice.StartPgBouncer(t, testservice.StartPostgres(t, "fsync=off", "full_page_writes=off").Address, ignored)
	url := bouncer.URL + "&default_query_exec_mode=exec"
	conformance.Storage(t, func(t *testing.T) petstore.Database { return serving(t, openEmptied(t, url)) })
}
