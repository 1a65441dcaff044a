package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"petstore/internal/database"
	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// keyPlace is a place where the commands for keys work: the database of a server, or the server itself.
type keyPlace struct {
	*testservice.Instance
	database string
	flags    []string
	env      map[string]string
}

// onEveryKeyPlace runs a test on each database and over the API of a server on each database.
func onEveryKeyPlace(t *testing.T, test func(*testing.T, keyPlace)) {
	t.Helper()
	for kind, newURL := range map[string]func(*testing.T) string{
		"SQLite":     testservice.NewDatabase,
		"PostgreSQL": func(t *testing.T) string { return testservice.Postgres(t) },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			url := newURL(t)
			test(t, keyPlace{testservice.Serve(t, "--database", url), url, []string{"--database", url}, nil})
		})
		t.Run(kind+" over the API", func(t *testing.T) {
			t.Parallel()
			url := newURL(t)
			s := testservice.Serve(t, "--database", url)
			test(t, keyPlace{s, url, []string{"--server", s.URL}, map[string]string{"PETSTORE_API_KEY": s.Key}})
		})
	}
}

// tries runs a command for keys.
func (p keyPlace) tries(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	return invokeWith(t, p.env, slices.Concat([]string{"keys"}, args, p.flags)...)
}

// does runs a command for keys that must succeed.
func (p keyPlace) does(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	stdout, stderr, status := p.tries(t, args...)
	if status != 0 {
		t.Fatalf("petstore keys %q ended with %d: %s", args, status, stderr)
	}
	return stdout, stderr
}

// creates creates a key with a name and returns it.
func (p keyPlace) creates(t *testing.T, name string, args ...string) testservice.Key {
	t.Helper()
	_, stderr := p.does(t, append([]string{"create", "--name", name}, args...)...)
	id := regexp.MustCompile(`Created key (key_\w+)`).FindStringSubmatch(stderr)
	if id == nil {
		t.Fatalf("keys create said %q", stderr)
	}
	return p.shows(t, id[1])
}

func (p keyPlace) shows(t *testing.T, key string) testservice.Key {
	t.Helper()
	stdout, _ := p.does(t, "show", key, "--json")
	return testservice.Decode[testservice.Key](t, stdout)
}

func (p keyPlace) lists(t *testing.T, args ...string) (names []string) {
	t.Helper()
	stdout, _ := p.does(t, append([]string{"list", "--json"}, args...)...)
	for _, key := range testservice.Decode[[]testservice.Key](t, stdout) {
		names = append(names, key.Name)
	}
	return names
}

// storage calls the function work with the database, which the server keeps using.
func (p keyPlace) storage(t *testing.T, work func(petstore.Database) error) {
	t.Helper()
	flags := database.Flags{Environment: petstore.Production, Database: p.database}
	noError(t, flags.With(t.Context(), database.ToUse, func(storage *database.Storage) error { return work(storage) }))
}

func TestKeysAreManagedOnADatabaseAndOverTheAPI(t *testing.T) {
	t.Parallel()
	onEveryKeyPlace(t, func(t *testing.T, p keyPlace) {
		secret, _ := p.does(t, "create", "--name", "shop", "--plan", "enterprise", "--per-minute", "70", "--per-day", "900", "--access", "read", "--expires", "2d")
		shop := p.shows(t, "shop")
		if own := p.ownKey(t, strings.TrimSpace(secret)); own.ID != shop.ID || own.Plan != "enterprise" || own.PerMinute != 70 || own.PerDay != 900 || own.Access != "read" {
			t.Errorf("the new key is %+v", own)
		}
		if left := time.Until(shop.ExpiresAt); left > 48*time.Hour || left < 47*time.Hour {
			t.Errorf("the new key expires in %s", left)
		}
		_, said := p.does(t, "update", "shop", "--plan", "pro", "--access", "admin", "--expires", "never", "--name", "office")
		office := p.shows(t, "office")
		if office.ID != shop.ID || office.Plan != "pro" || office.Access != "admin" || !office.ExpiresAt.IsZero() {
			t.Errorf("the changed key is %+v", office)
		}
		if want := "Key " + shop.ID + ", office, is now: pro, 300 requests per minute, 10000 per day, administrator; works. Every server follows"; !strings.Contains(said, want) {
			t.Errorf("keys update said %q", said)
		}
		secret, said = p.does(t, "rotate", "office", "--overlap", "1h")
		if own := p.ownKey(t, strings.TrimSpace(secret)); own.ID == office.ID || own.Owner != office.Owner || own.Access != "admin" {
			t.Errorf("the successor is %+v", own)
		}
		if !strings.Contains(said, "Key "+office.ID+", office, works for another 1h0m0s at most.") {
			t.Errorf("keys rotate said %q", said)
		}
		_, said = p.does(t, "revoke", office.ID)
		if !strings.Contains(said, "Key "+office.ID+", office, is revoked; every server refuses it within 5 seconds.") || p.shows(t, office.ID).RevokedAt.IsZero() {
			t.Errorf("keys revoke said %q", said)
		}
		if all, active := p.lists(t), p.lists(t, "--active"); !slices.Equal(all, []string{"first key", "office", "office"}) || !slices.Equal(active, []string{"first key", "office"}) {
			t.Errorf("keys list shows %q and with --active %q", all, active)
		}
	})
}

// ownKey returns what the API says about a key.
func (p keyPlace) ownKey(t *testing.T, secret string) testservice.Key {
	t.Helper()
	got, err := testservice.Request(p.URL, secret, "GET", "/v1/key", "")
	if err != nil || got.Status != http.StatusOK {
		t.Fatalf("GET /v1/key: %d %v %s", got.Status, err, got.Body)
	}
	return testservice.Decode[testservice.Key](t, got.Body)
}

func TestKeysInJSONAreThoseOfTheAPI(t *testing.T) {
	t.Parallel()
	onEveryKeyPlace(t, func(t *testing.T, p keyPlace) {
		banned := p.creates(t, "banned", "--expires", "2d")
		p.does(t, "revoke", p.creates(t, "revoked").ID)
		once := p.creates(t, "once banned")
		p.storage(t, func(storage petstore.Database) error {
			_, err := storage.BanOwner(t.Context(), once.Owner, time.Now().Add(-time.Hour))
			noError(t, err)
			_, err = storage.BanOwner(t.Context(), banned.Owner, time.Now())
			return err
		})
		p.Ask(t, "GET", "/v1/keys", "")
		testservice.Eventually(t, "the use of the first key is stored", 10*time.Second, func() bool { return !p.shows(t, "first key").LastUsedAt.IsZero() })
		fromAPI := testservice.Decode[[]json.RawMessage](t, p.Ask(t, "GET", "/v1/keys", "").Body)
		slices.Reverse(fromAPI)
		stdout, _ := p.does(t, "list", "--json")
		listed := testservice.Decode[[]json.RawMessage](t, stdout)
		if len(listed) != 4 || len(fromAPI) != 4 {
			t.Fatalf("keys list has %d keys, the API %d", len(listed), len(fromAPI))
		}
		members := map[string]int{}
		for i := range listed {
			got, want := testservice.Decode[map[string]any](t, string(listed[i])), testservice.Decode[map[string]any](t, string(fromAPI[i]))
			if !reflect.DeepEqual(got, want) {
				t.Errorf("keys list shows %v, the API %v", got, want)
			}
			for name := range got {
				members[name]++
			}
		}
		for _, name := range []string{"bannedUntil", "expiresAt", "lastUsedAt", "revokedAt"} {
			if members[name] != 1 {
				t.Errorf("%d keys have %s:\n%s", members[name], name, stdout)
			}
		}
	})
}

func TestAKeyIsFoundByItsNameIfThatIsUnambiguous(t *testing.T) {
	t.Parallel()
	onEveryKeyPlace(t, func(t *testing.T, p keyPlace) {
		first := p.creates(t, "shop")
		_, said := p.does(t, "create", "--name", "shop")
		if !strings.Contains(said, `Note: another usable key has the name "shop": `+first.ID+" (created ") {
			t.Errorf("keys create said %q", said)
		}
		for _, args := range [][]string{{"revoke", "shop"}, {"rotate", "shop"}, {"update", "shop", "--plan", "pro"}, {"show", "shop"}, {"unban", "shop"}, {"usage", "shop"}} {
			stdout, stderr, status := p.tries(t, args...)
			if status != 1 || stdout != "" || !strings.HasPrefix(stderr, `2 keys are named "shop"; give the id of one: `+first.ID+" (created ") || strings.Count(stderr, "works)") != 2 {
				t.Errorf("keys %q ended with %d, printed %q and said %q", args, status, stdout, stderr)
			}
		}
		p.does(t, "revoke", first.ID)
		second := p.shows(t, "shop")
		if second.ID == first.ID {
			t.Error("the name of a revoked and a usable key means the revoked one")
		}
		p.does(t, "rotate", "shop", "--overlap", "1h")
		if _, stderr, status := p.tries(t, "revoke", "shop"); status != 1 || !strings.Contains(stderr, second.ID+" (created ") {
			t.Errorf("during the overlap, revoke ended with %d and said %q", status, stderr)
		}
		p.does(t, "unban", "shop") // both keys have the same owner
		p.does(t, "usage", "shop")
		if _, stderr, status := p.tries(t, "show", "nobody"); status != 1 || !strings.Contains(stderr, `no key has the id or the name "nobody"; petstore keys list shows`) {
			t.Errorf("keys show nobody ended with %d and said %q", status, stderr)
		}
		p.does(t, "revoke", p.creates(t, "gone").ID)
		if gone := p.shows(t, "gone"); gone.RevokedAt.IsZero() {
			t.Errorf("the only key with a name is %+v", gone)
		}
		if _, said := p.does(t, "create", "--name", "gone"); strings.Contains(said, "Note:") {
			t.Errorf("a revoked key with the same name is mentioned: %s", said)
		}
		if _, said := p.does(t, "update", "gone", "--name", "shop"); !strings.Contains(said, `Note: another usable key has the name "shop": `+second.ID) {
			t.Errorf("keys update said %q", said)
		}
	})
}

func TestAMessageNamesOnlySomeOfManyKeysWithAName(t *testing.T) {
	t.Parallel()
	url := testservice.NewDatabase(t)
	for range 12 {
		newKey(t, url)
	}
	_, stderr, status := invoke(t, "keys", "revoke", "test", "--database", url)
	if status != 1 || strings.Count(stderr, "key_") != 10 || !strings.HasSuffix(stderr, " and 2 more") {
		t.Errorf("it ended with %d and said %q", status, stderr)
	}
}

func TestUnbanSaysWhetherTheOwnerWasBanned(t *testing.T) {
	t.Parallel()
	onEveryKeyPlace(t, func(t *testing.T, p keyPlace) {
		key := p.creates(t, "shop")
		if _, said := p.does(t, "unban", "shop"); !strings.Contains(said, "The owner of key "+key.ID+", shop, was not banned.") {
			t.Errorf("keys unban said %q", said)
		}
		p.storage(t, func(storage petstore.Database) error {
			_, err := storage.BanOwner(t.Context(), key.Owner, time.Now())
			return err
		})
		if table, _ := p.does(t, "show", "shop"); !strings.Contains(table, "banned until 2") {
			t.Errorf("keys show printed\n%s", table)
		}
		if _, said := p.does(t, "unban", "shop"); !strings.Contains(said, "The owner of key "+key.ID+", shop, is no longer banned; every server follows") {
			t.Errorf("keys unban said %q", said)
		}
		if after := p.shows(t, "shop"); !after.BannedUntil.IsZero() {
			t.Errorf("after unban: %+v", after)
		}
	})
}

func TestAStaffKeyIsPrintedAsALinkThatSignsInAtTheDesk(t *testing.T) {
	t.Parallel()
	onEveryKeyPlace(t, func(t *testing.T, p keyPlace) {
		base := p.URL
		if p.env == nil {
			base = "http://localhost:8080"
		}
		for _, c := range []struct {
			args               string
			base, plan, access string
		}{
			{"", base, "business", "write"},
			{"--base-url https://pets.example.com/v1", "https://pets.example.com", "business", "write"},
			{"--access read --plan pro", base, "pro", "read"},
		} {
			stdout, said := p.does(t, append([]string{"create", "--staff", "Ann"}, strings.Fields(c.args)...)...)
			address, secret, _ := strings.Cut(strings.TrimSuffix(stdout, "\n"), "/#key=")
			if address != c.base || testservice.PrintedKey.FindString(secret) != secret {
				t.Fatalf("keys create --staff Ann %s printed %q", c.args, stdout)
			}
			if own := p.ownKey(t, secret); own.Name != "Ann" || own.Plan != c.plan || own.Access != c.access {
				t.Errorf("keys create --staff Ann %s created %+v", c.args, own)
			}
			if !strings.Contains(said, "The link signs Ann in at the desk.") || strings.Contains(said, secret) {
				t.Errorf("keys create --staff Ann %s said %q", c.args, said)
			}
			if hint := strings.Contains(said, "give that with --base-url"); hint != (c.base == "http://localhost:8080") {
				t.Errorf("keys create --staff Ann %s said %q", c.args, said)
			}
		}
	})
}

func TestOnlyAnAdministratorsKeyManagesKeysOverTheAPI(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	admin := map[string]string{"PETSTORE_API_KEY": s.Key}
	secret, _, _ := invokeWith(t, admin, "keys", "create", "--name", "shop", "--server", s.URL)
	env := map[string]string{"PETSTORE_API_KEY": strings.TrimSpace(secret)}
	for _, args := range []string{"list", "show shop", "show key_000000000", "create --name x", "usage", "revoke shop"} {
		stdout, stderr, status := invokeWith(t, env, append(append([]string{"keys"}, strings.Fields(args)...), "--server", s.URL)...)
		if status != 1 || stdout != "" || !strings.Contains(stderr, "Use an administrator's key, whose access is admin. (403 forbidden, request ") {
			t.Errorf("keys %s ended with %d, printed %q and said %q", args, status, stdout, stderr)
		}
	}
	for _, args := range []string{"revoke", "rotate"} {
		if _, stderr, status := invokeWith(t, admin, "keys", args, "first key", "--server", s.URL); status != 1 || !strings.Contains(stderr, "(409 own_key, request ") {
			t.Errorf("keys %s of the own key ended with %d and said %q", args, status, stderr)
		}
	}
	if _, stderr, status := invokeWith(t, map[string]string{"XDG_CONFIG_HOME": t.TempDir()}, "keys", "list", "--profile", "moon"); status != 4 || !strings.Contains(stderr, "there is no profile moon") {
		t.Errorf("an unknown profile ended with %d and said %q", status, stderr)
	}
}

func TestAProfileOfAnAdministratorManagesKeys(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	config := t.TempDir()
	login := testservice.Command(t, "login", "--profile", "work", "--server", s.URL)
	login.Stdin, login.Env = strings.NewReader(s.Key), append(login.Env, "XDG_CONFIG_HOME="+config)
	noError(t, login.Run())
	out, stderr, status := invokeWith(t, map[string]string{"XDG_CONFIG_HOME": config}, "keys", "list", "--json", "--profile", "work")
	if status != 0 || len(testservice.Decode[[]testservice.Key](t, out)) != 1 {
		t.Errorf("it ended with %d, printed %s and said %s", status, out, stderr)
	}
}

func TestAPlaceOnTheCommandLineOverridesAPlaceInTheEnvironment(t *testing.T) {
	t.Parallel()
	s, url := testservice.Serve(t), testservice.NewDatabase(t)
	newKey(t, url)
	for _, c := range []struct {
		environment map[string]string
		args        string
		lists, says string
	}{
		{map[string]string{"PETSTORE_SERVER": s.URL}, "--database " + url, "test", ""},
		{map[string]string{"PETSTORE_PROFILE": "none"}, "--database " + url, "test", ""},
		{map[string]string{"PETSTORE_DATABASE": url}, "--server " + s.URL, "first key", ""},
		{map[string]string{"PETSTORE_SERVER": s.URL}, "", "first key", ""},
		{map[string]string{"PETSTORE_DATABASE": url}, "", "test", ""},
		{map[string]string{"PETSTORE_DATABASE": url, "PETSTORE_SERVER": s.URL}, "", "", "PETSTORE_DATABASE cannot be combined with PETSTORE_SERVER or --profile; give one of them"},
	} {
		env := maps.Clone(c.environment)
		env["PETSTORE_API_KEY"] = s.Key
		stdout, stderr, status := invokeWith(t, env, append([]string{"keys", "list"}, strings.Fields(c.args)...)...)
		if (status == 0) != (c.says == "") || !strings.Contains(stdout, c.lists) || !strings.Contains(stderr, c.says) {
			t.Errorf("with %v, keys list %s ended with %d, printed\n%s\nand said %s", c.environment, c.args, status, stdout, stderr)
		}
	}
}
