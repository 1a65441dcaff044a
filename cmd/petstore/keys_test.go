package main

import (
	"bytes"
	"net/http"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// keysOf returns the keys in a database.
func keysOf(t *testing.T, database string) []testservice.Key {
	t.Helper()
	return testservice.Decode[[]testservice.Key](t, mustInvoke(t, "keys", "list", "--json", "--database", database))
}

// newKey creates a key as a script does: the command prints only the key to standard output.
func newKey(t *testing.T, database string, args ...string) string {
	t.Helper()
	return strings.TrimSuffix(mustInvoke(t, append([]string{"keys", "create", "--database", database, "--name", "test"}, args...)...), "\n")
}

func TestAKeyIsPrintedOnceAndNothingElseIs(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "pets.db")
	secret := newKey(t, database)
	if testservice.PrintedKey.FindString(secret) != secret {
		t.Errorf("standard output was %q", secret)
	}
	for _, args := range [][]string{{"keys", "list"}, {"keys", "list", "--json"}} {
		out, stderr, _ := invoke(t, append(args, "--database", database)...)
		if strings.Contains(out+stderr, secret) {
			t.Errorf("%v shows the key again", args)
		}
	}
}

func TestKeysListShowsPlansLimitsAccessAndExpiry(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "pets.db")
	newKey(t, database)
	newKey(t, database, "--plan", "business", "--expires", "90d", "--access", "read")
	newKey(t, database, "--plan", "enterprise", "--per-minute", "5000", "--per-day", "700000")
	keys := keysOf(t, database)
	if len(keys) != 3 {
		t.Fatalf("%d keys", len(keys))
	}
	free, business, enterprise := keys[0], keys[1], keys[2]
	if free.Plan != "free" || free.PerMinute != 60 || free.PerDay != 1000 || !free.ExpiresAt.IsZero() || !free.RevokedAt.IsZero() || !free.BannedUntil.IsZero() || !free.LastUsedAt.IsZero() || free.Access != "write" || free.Owner == "" {
		t.Errorf("the free key is %+v", free)
	}
	if business.Access != "read" || business.PerMinute != 1000 || business.PerDay != 100000 || business.ExpiresAt.IsZero() || business.ExpiresAt.Sub(business.CreatedAt) != 90*24*time.Hour {
		t.Errorf("the business key is %+v", business)
	}
	if enterprise.PerMinute != 5000 || enterprise.PerDay != 700000 {
		t.Errorf("the enterprise key is %+v", enterprise)
	}
	table, _, _ := invoke(t, "keys", "list", "--database", database)
	if head, _, _ := strings.Cut(table, "\n"); strings.Join(regexp.MustCompile("  +").Split(head, -1), ",") != "ID,NAME,OWNER,PLAN,PER MINUTE,PER DAY,ACCESS,CREATED,LAST USED,STATE" {
		t.Errorf("the columns are %q", head)
	}
	for _, k := range keys {
		if !strings.Contains(table, k.ID) {
			t.Errorf("%s is not in\n%s", k.ID, table)
		}
	}
}

func TestKeysUpdateShowsTheKeyAfterTheChange(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "pets.db")
	newKey(t, database, "--expires", "90d")
	id := keysOf(t, database)[0].ID
	update := func(says string, args ...string) testservice.Key {
		t.Helper()
		out, stderr, status := invoke(t, append([]string{"keys", "update", id, "--database", database}, args...)...)
		if status != 0 || out != "" || !strings.Contains(stderr, id) || !strings.Contains(stderr, says) {
			t.Fatalf("keys update %v: ended with %d, printed %q and said %q, not %q", args, status, out, stderr, says)
		}
		return keysOf(t, database)[0]
	}
	if k := update("shop, is now: free, 60 requests per minute, 1000 per day, read only; works until ", "--access", "read", "--name", "shop"); k.Access != "read" || k.Name != "shop" || k.ExpiresAt.IsZero() {
		t.Errorf("it is %+v", k)
	}
	if k := update("enterprise, 500 requests per minute, 7000 per day", "--plan", "enterprise", "--per-minute", "500", "--per-day", "7000"); k.Plan != "enterprise" {
		t.Errorf("it is %+v", k)
	}
	if k := update("600 requests per minute, 7000 per day", "--per-minute", "600"); k.PerMinute != 600 || k.PerDay != 7000 {
		t.Errorf("it is %+v", k)
	}
	if k := update("read only; works. ", "--expires", "never"); !k.ExpiresAt.IsZero() {
		t.Errorf("it ends at %v", k.ExpiresAt)
	}
	if k := update("works until ", "--expires", "2d"); k.ExpiresAt.IsZero() || time.Until(k.ExpiresAt).Round(time.Hour) != 48*time.Hour {
		t.Errorf("it ends at %v", k.ExpiresAt)
	}
	if k := update("pro, 300 requests", "--plan", "pro"); k.PerMinute != 300 || k.PerDay != 10_000 || k.Access != "read" {
		t.Errorf("it is %+v", k)
	}
}

func TestWrongKeyCommandsAreRefusedAndChangeNothing(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "pets.db")
	for range 3 {
		newKey(t, database)
	}
	invoke(t, "keys", "revoke", keysOf(t, database)[1].ID, "--database", database)
	invoke(t, "keys", "rotate", keysOf(t, database)[2].ID, "--database", database)
	keys := keysOf(t, database)
	ids := strings.NewReplacer("KEY", keys[0].ID, "REVOKED", keys[1].ID, "ROTATED", keys[2].ID, "SUCCESSOR", keys[3].ID)
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"create --name x --plan free --per-minute 5 --per-day 10", 2, "enterprise"},
		{"create --name x --plan enterprise", 2, "both"},
		{"create --name x --plan enterprise --per-minute 5", 2, "both"},
		{"create --name x --plan enterprise --per-minute 5 --per-day 4", 2, "daily"},
		{"create --name x --plan enterprise --per-minute=-5 --per-day=4", 2, "from 1"},
		{"create --name x --plan gold", 2, "free"},
		{"create --name x --expires soon", 2, "90d"},
		{"create --name x --expires 0d", 2, "never work"},
		{"create", 2, "--name"},
		{"rotate key_none", 1, "key_none"},
		{"revoke key_none", 1, "key_none"},
		{"unban key_none", 1, "key_none"},
		{"rotate", 2, "id"},
		{"create --name x --access all", 2, "read"},
		{"update", 2, "id"},
		{"update KEY", 2, "at least one"},
		{"update KEY --name=", 2, "--name"},
		{"update KEY --per-minute 5", 2, "only with the plan enterprise"},
		{"update KEY --plan enterprise --per-minute 5", 2, "both"},
		{"update KEY --plan gold", 2, "free"},
		{"update KEY --access all", 2, "read"},
		{"update KEY --expires soon", 2, "90d"},
		{"update KEY --expires 0d", 2, "never"},
		{"update key_none --name x", 1, "key_none"},
		{"update REVOKED --name x", 1, "revoked"},
		{"rotate ROTATED", 1, "SUCCESSOR"},
		{"burn", 2, "burn"},
	} {
		args := append([]string{"keys"}, strings.Fields(ids.Replace(c.args))...)
		if !strings.HasSuffix(c.args, "burn") {
			args = append(args, "--database", database)
		}
		out, stderr, status := invoke(t, args...)
		if status != c.status || !strings.Contains(stderr, ids.Replace(c.says)) || out != "" {
			t.Errorf("keys %s: ended with %d, printed %q and said %q; want %d and something about %q", c.args, status, out, stderr, c.status, c.says)
		}
	}
	if after := keysOf(t, database); !reflect.DeepEqual(after, keys) {
		t.Errorf("after the refusals the keys are %+v", after)
	}
	missing := filepath.Join(t.TempDir(), "none.db")
	if _, stderr, status := invoke(t, "keys", "list", "--database", "sqlite:"+missing); status != 1 || !strings.Contains(stderr, missing) {
		t.Errorf("keys list without a database: %d %q", status, stderr)
	}
}

func TestAKeyIsListedThoughItsCreationWasInterrupted(t *testing.T) {
	t.Parallel()
	server := testservice.StartPostgres(t)
	proxy := testservice.StartProxy(t, server.Address)
	newKey(t, server.URL)
	proxy.Break("interrupted")
	out, stderr, status := invoke(t, "keys", "create", "--name", "interrupted", "--database", "postgres://postgres@"+proxy.Address+"/postgres?sslmode=disable")
	if out != "" || status != 1 || !strings.HasPrefix(stderr, "the database did not say whether this was done; petstore keys list shows what was done: ") {
		t.Errorf("it ended with %d and said %q, %q", status, out, stderr)
	}
	if keys := keysOf(t, server.URL); len(keys) != 2 || keys[1].Name != "interrupted" {
		t.Errorf("the keys are %v", keys)
	}
}

// The server and the keys commands are separate processes that use the same file. The server notices a change within 5
// seconds.
func TestKeysAreManagedWhileTheServerRuns(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "pets.db")
	s := testservice.ServeRaced(t, "--database", database)
	status := func(key string) int {
		got, err := testservice.Request(s.URL, key, "GET", "/v1/pets", "")
		noError(t, err)
		return got.Status
	}
	refused := func(key string) func() bool {
		return func() bool { return status(key) == http.StatusUnauthorized }
	}

	old := newKey(t, database, "--plan", "business")
	if got := status(old); got != http.StatusOK {
		t.Fatalf("a new key gets %d", got)
	}
	id := keysOf(t, database)[1].ID
	out, _, _ := invoke(t, "keys", "rotate", id, "--database", database)
	rotated := strings.TrimSpace(out)
	if status(old) != http.StatusOK || status(rotated) != http.StatusOK {
		t.Error("during the overlap, one of the two keys does not work")
	}
	keys := keysOf(t, database)
	if keys[1].Owner != keys[2].Owner || keys[1].ExpiresAt.IsZero() || time.Until(keys[1].ExpiresAt) < 23*time.Hour {
		t.Errorf("a rotation left %+v", keys[1:])
	}

	last, _, _ := invoke(t, "keys", "rotate", keys[2].ID, "--now", "--database", database)
	testservice.Eventually(t, "the key rotated with --now is refused", 6*time.Second, refused(rotated))
	invoke(t, "keys", "revoke", id, "--database", database)
	testservice.Eventually(t, "the revoked key is refused", 6*time.Second, refused(old))
	if got := status(strings.TrimSpace(last)); got != http.StatusOK {
		t.Errorf("the newest key gets %d", got)
	}
}

func TestKeysListShowsWhenAKeyWasLastUsed(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "pets.db")
	s := testservice.Serve(t, "--database", database)
	key := newKey(t, database)
	before := time.Now().Truncate(time.Hour)
	if got, err := testservice.Request(s.URL, key, "GET", "/v1/pets", ""); err != nil || got.Status != http.StatusOK {
		t.Fatalf("%d, %v", got.Status, err)
	}
	testservice.Eventually(t, "keys list shows the use", 6*time.Second, func() bool { return !keysOf(t, database)[1].LastUsedAt.IsZero() })
	keys := keysOf(t, database)
	if used := keys[1].LastUsedAt; used.Before(before) || used.After(time.Now()) || !used.Equal(used.Truncate(time.Hour)) {
		t.Errorf("the key was last used at %v, which is not this hour", used)
	}
	if !keys[0].LastUsedAt.IsZero() {
		t.Errorf("a key that nobody used was last used at %v", keys[0].LastUsedAt)
	}
	table, _, _ := invoke(t, "keys", "list", "--database", database)
	if !strings.Contains(table, keys[1].LastUsedAt.Format(time.RFC3339)) || strings.Count(table, "  never  ") != 1 {
		t.Errorf("keys list shows\n%s", table)
	}
}

func TestAFreeKeyGetsItsPlanAndABanThatCanBeLifted(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "pets.db")
	s := testservice.Serve(t, "--database", database)
	key := newKey(t, database)
	// A new minute may begin once during the loop. The server then allows another 60 requests before it refuses again.
	codes := map[string]int{}
	for range 60 + 60 + 60 + 60 + 10 {
		got, err := testservice.Request(s.URL, key, "GET", "/v1/pets", "")
		noError(t, err)
		if got.Header.Get("X-RateLimit-Limit") != "60" {
			t.Fatalf("%d with limit %q", got.Status, got.Header.Get("X-RateLimit-Limit"))
		}
		code := "ok"
		if got.Status != http.StatusOK {
			code = testservice.Decode[struct{ Code string }](t, got.Body).Code
		}
		codes[code]++
	}
	if codes["ok"] > 120 || codes["rate_limited"] < 59 || codes["key_banned"] < 10 {
		t.Fatalf("250 requests of a free key: %v", codes)
	}
	banned := keysOf(t, database)[1]
	if banned.BannedUntil.IsZero() || time.Until(banned.BannedUntil) > time.Minute {
		t.Errorf("keys list shows the ban as %v", banned.BannedUntil)
	}
	if table, _, _ := invoke(t, "keys", "list", "--database", database); !strings.Contains(table, "banned until") {
		t.Errorf("keys list does not show the ban:\n%s", table)
	}
	mustInvoke(t, "keys", "unban", banned.ID, "--database", database)
	if again := keysOf(t, database)[1]; !again.BannedUntil.IsZero() {
		t.Errorf("after unban: %+v", again)
	}
	testservice.Eventually(t, "the ban is lifted on the server", 6*time.Second, func() bool {
		got, err := testservice.Request(s.URL, key, "GET", "/v1/pets", "")
		return err == nil && !strings.Contains(got.Body, "key_banned")
	})
}

func TestUnbanTakesAnyKeyOfTheOwner(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	newKey(t, database)
	first := keysOf(t, database)[0]
	mustInvoke(t, "keys", "rotate", first.ID, "--database", database)
	withStorage(t, database, func(storage petstore.Database) error {
		_, err := storage.BanOwner(t.Context(), first.Owner, time.Now())
		return err
	})
	mustInvoke(t, "keys", "unban", keysOf(t, database)[1].ID, "--database", database)
	for _, key := range keysOf(t, database) {
		if !key.BannedUntil.IsZero() {
			t.Errorf("after unban: %+v", key)
		}
	}
}

func TestStagingIsSeparate(t *testing.T) {
	t.Chdir(t.TempDir())
	out, stderr, status := invoke(t, "keys", "create", "--name", "staging", "--environment", "staging")
	if status != 0 || !strings.HasPrefix(out, "pets_test_") {
		t.Fatalf("%d %q %s", status, out, stderr)
	}
	if _, stderr, status := invoke(t, "keys", "list", "--database", "sqlite:petstore-staging.db"); status != 1 || !strings.Contains(stderr, "staging") {
		t.Errorf("a production command on the staging database: %d %q", status, stderr)
	}
	s := testservice.Serve(t)
	if got, _ := testservice.Request(s.URL, strings.TrimSpace(out), "GET", "/v1/pets", ""); got.Status != http.StatusUnauthorized || !strings.Contains(got.Body, "staging") {
		t.Errorf("a staging key in production: %d %s", got.Status, got.Body)
	}
}

func TestHelpIsComplete(t *testing.T) {
	t.Parallel()
	out, _, status := invoke(t, "serve", "--help")
	if status != 0 {
		t.Fatalf("--help ended with %d", status)
	}
	for _, flag := range []string{"listen", "admin-listen", "environment", "database", "redis", "base-url", "api-key", "rate-limits", "trusted-proxies",
		"tls-cert", "tls-key", "body-budget", "keep-deprecated", "log-level", "log-format", "shutdown-timeout", "drain-delay"} {
		if !strings.Contains(out, "--"+flag) || !strings.Contains(out, "$"+variableName(flag)) {
			t.Errorf("--help does not show --%s and %s:\n%s", flag, variableName(flag), out)
		}
	}
}

func TestAFlagOverridesItsVariable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := map[string]string{"PETSTORE_DATABASE": "sqlite:" + filepath.Join(dir, "variable.db"), "PETSTORE_ENVIRONMENT": "staging"}
	if out, stderr, _ := invokeWith(t, env, "keys", "create", "--name", "x"); !strings.HasPrefix(out, "pets_test_") {
		t.Errorf("the variables were not used: %q %s", out, stderr)
	}
	flag := "sqlite:" + filepath.Join(dir, "flag.db")
	if out, stderr, _ := invokeWith(t, env, "keys", "create", "--name", "x", "--environment", "production", "--database", flag); !strings.HasPrefix(out, "pets_live_") {
		t.Errorf("the flags did not override the variables: %q %s", out, stderr)
	}
	if _, stderr, status := invokeWith(t, map[string]string{"PETSTORE_ENVIRONMENT": "moon"}, "version"); status != 0 {
		t.Errorf("a variable of another command ended version with %d: %s", status, stderr)
	}
	if _, stderr, status := invokeWith(t, map[string]string{"PETSTORE_ENVIRONMENT": "moon"}, "keys", "list"); status != 2 || !strings.Contains(stderr, "production") {
		t.Errorf("a wrong variable: %d %q", status, stderr)
	}
}

// fullDisk is an output on a disk without space.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestAKeyThatCannotBePrintedIsAnError(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "pets.db")
	var id string
	for _, args := range [][]string{{"keys", "create", "--name", "shop"}, {"keys", "rotate", "--now"}, {"keys", "rotate"}} {
		args = append(args, "--database", database)
		if id != "" {
			args = append(args, id)
		}
		var stderr bytes.Buffer
		err := run(t.Context(), args, func(string) string { return "" }, fullDisk{}, &stderr)
		if err == nil {
			t.Fatalf("%v succeeded and said %s", args, &stderr)
		}
		advice := regexp.MustCompile(`no space left on device; replace it with petstore keys rotate --now (key_\w+)$`).FindStringSubmatch(err.Error())
		if advice == nil || exitStatus(err) != 1 {
			t.Fatalf("%v says %q", args, err)
		}
		id = advice[1]
	}
	if secret, stderr, status := invoke(t, "keys", "rotate", "--now", id, "--database", database); status != 0 || secret == "" {
		t.Errorf("the advice does not work: %s", stderr)
	}
}

func TestTheNameOfAKeyCannotControlTheTerminal(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	testservice.Serve(t, "--database", database).Stop(t)
	invoke(t, "keys", "create", "--name", "red\x1b[31m\u202e", "--database", database)
	for flag, want := range map[string]string{"--json=false": `red\x1b[31m\u202e`, "--json": `red\u001b[31m\u202e`} {
		if out, _, _ := invoke(t, "keys", "list", flag, "--database", database); !strings.Contains(out, want) || strings.ContainsAny(out, "\x1b\u202e") {
			t.Errorf("keys list %s printed %q", flag, out)
		}
	}
}
