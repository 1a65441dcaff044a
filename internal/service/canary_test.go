package service

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"petstore/internal/database"
	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// A canary is a recognizable text. The test puts canaries everywhere a client or an operator may put a secret or an animal.
// It looks for the canaries in everything that other people may read: logs, metrics, traces, profiles and answers.
func TestSecretsAndBodiesLeakNowhere(t *testing.T) {
	t.Parallel()
	binary := buildPanicking(t)
	t.Run("SQLite, with the log as text", func(t *testing.T) {
		t.Parallel()
		newCanaryServer(t, binary, "sqlite:"+filepath.Join(t.TempDir(), "pets.db"), "--log-format", "text").run(t, func() {})
	})
	t.Run("PostgreSQL and Redis, with the log as JSON", func(t *testing.T) {
		t.Parallel()
		postgres := testservice.StartPostgres(t)
		redis := testservice.StartRedis(t, "--user", "petstore", "on", ">canary-redis", "~*", "&*", "+@all")
		database := strings.Replace(postgres.URL, "@", ":canary-postgres@", 1)
		m := newCanaryServer(t, binary, database, "--log-format", "json", "--redis", "redis://petstore:canary-redis@"+redis.Address)
		m.secrets = append(m.secrets, "canary-postgres", "canary-redis")
		m.run(t, func() {
			redis.Stop(t)
			postgres.Kill(t)
		})
	})
}

// canaryServer is a server, together with all its output and the canaries that were sent to it.
type canaryServer struct {
	*testservice.Server
	database string
	keys     []string
	secrets  []string // the canaries that must appear nowhere, including keys
	bodies   []string // the canaries that may appear only in answers with animals
	valid    string
	admin    string // an administrator's key
	traces   *testservice.Transcript
	answers  *testservice.Transcript
}

func newCanaryServer(t *testing.T, binary, database string, args ...string) *canaryServer {
	t.Helper()
	const named = "canary-named-key" // short enough that a message could show it as a method
	m := &canaryServer{database: database, valid: testservice.NewKey(t, binary, database, "--plan", "business"), traces: &testservice.Transcript{}, answers: &testservice.Transcript{}}
	revoked := testservice.NewKey(t, binary, database, "--name", "revoked")
	revoke(t, binary, database, "revoked")
	m.admin = newAdmin(t, database)
	m.keys = []string{
		m.valid, m.admin, named, revoked, petstore.NewSecret(petstore.Production), petstore.NewSecret(petstore.Staging), m.valid[:len(m.valid)-1] + "~",
	}
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { io.Copy(m.traces, r.Body) }))
	t.Cleanup(collector.Close)
	m.Server = testservice.NewServer(t, binary, append([]string{"--database", database, "--log-level", "debug"}, args...)...)
	m.Set("PETSTORE_API_KEY="+named, "OTEL_EXPORTER_OTLP_COMPRESSION=none", "OTEL_BSP_SCHEDULE_DELAY=50",
		"OTEL_EXPORTER_OTLP_ENDPOINT="+strings.Replace(collector.URL, "//", "//u:canary-endpoint@", 1), "OTEL_EXPORTER_OTLP_HEADERS=x-token=canary-header")
	m.secrets = append([]string{"canary-endpoint", "canary-header"}, m.keys...)
	m.Start(t)
	return m
}

// newAdmin creates an administrator's key and returns its secret.
func newAdmin(t *testing.T, url string) string {
	t.Helper()
	key := petstore.NewKey("admin", petstore.Enterprise, petstore.FirstKeyLimits, time.Now(), petstore.Forever)
	key.Access = petstore.Admin
	secret := petstore.NewSecret(petstore.Production)
	noError(t, database.Flags{Environment: petstore.Production, Database: url}.With(t.Context(), database.ToUse, func(storage *database.Storage) error {
		return storage.CreateKey(t.Context(), key, petstore.HashSecret(secret), petstore.ByOperator(time.Now()))
	}))
	return secret
}

// revoke revokes the key with this name.
func revoke(t *testing.T, binary, database, name string) {
	t.Helper()
	out, err := exec.Command(binary, "keys", "list", "--json", "--database", database).Output()
	var keys []testservice.Key
	if err == nil {
		err = json.Unmarshal(out, &keys)
	}
	at := slices.IndexFunc(keys, func(k testservice.Key) bool { return k.Name == name })
	if err != nil || at < 0 {
		t.Fatalf("there is no key %s to revoke: %v\n%s", name, err, out)
	}
	if out, err := exec.Command(binary, "keys", "revoke", keys[at].ID, "--database", database).CombinedOutput(); err != nil {
		t.Fatalf("the key cannot be revoked: %v\n%s", err, out)
	}
}

// run sends the canaries, sends them again during an outage, and looks for canaries everywhere.
func (m *canaryServer) run(t *testing.T, outage func()) {
	t.Helper()
	m.sendSecrets(t)
	m.sendBodies(t)
	m.makeKeys(t)
	m.sendRaw(t)
	m.checkProfiles(t)
	m.expectNone(t, "the metrics", m.fetch(t, "/metrics"), m.secrets, m.bodies)
	outage()
	m.sendBodies(t)
	m.Stop(t)

	m.expectNone(t, "the log", m.Log(t), m.secrets, m.bodies)
	m.expectNone(t, "the traces", m.traces.String(), m.secrets, m.bodies)
	m.expectNone(t, "the answers", m.answers.String(), m.secrets, nil)
	if file, ok := strings.CutPrefix(m.database, "sqlite:"); ok {
		stored, err := os.ReadFile(file)
		noError(t, err)
		m.expectNone(t, "the database", string(stored), m.secrets)
	}
	for where, found := range map[string][2]string{
		"the log has no request":  {m.Log(t), "createPet"},
		"the log has no panic":    {m.Log(t), "panic: "},
		"the log has no new key":  {m.Log(t), "key created"},
		"the log has no rotation": {m.Log(t), "key rotated"},
		"the traces have no span": {m.traces.String(), "createPet"},
		"no answer has an animal": {m.answers.String(), m.bodies[0]},
	} {
		if !strings.Contains(found[0], found[1]) {
			t.Errorf("this test proves nothing: %s", where)
		}
	}
}

// expectNone fails the test for each canary in the text.
func (m *canaryServer) expectNone(t *testing.T, where, text string, canaries ...[]string) {
	t.Helper()
	for _, kind := range canaries {
		for _, canary := range kind {
			if at := strings.Index(text, canary); at >= 0 {
				t.Errorf("%s: %s appears in …%s…", where, canary, text[max(0, at-200):min(len(text), at+len(canary)+100)])
			}
		}
	}
}

func (m *canaryServer) fetch(t *testing.T, path string) string {
	t.Helper()
	got, err := testservice.Request(m.Admin, "", "GET", path, "")
	if err != nil || got.Status != http.StatusOK {
		t.Fatalf("%s: %d %v\n%s", path, got.Status, err, got.Body)
	}
	return got.Body
}

// buildPanicking builds the program with a deliberate fault: if a test asks for it, createPet panics with the key and the
// body of the request.
func buildPanicking(t *testing.T) string {
	t.Helper()
	const begins = "func (a *API) createPet(x *exchange) error {\n"
	path, err := filepath.Abs("../../internal/httpapi/pets.go")
	noError(t, err)
	source, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(source), begins) {
		t.Fatalf("there is no createPet in %s: %v", path, err)
	}
	faulty := strings.Replace(string(source), begins, begins+`if x.r.Header["X-Panic"] != nil { panic(x.r.Header.Get("Authorization") + string(x.body)) }`+"\n", 1)
	binary, err := testservice.BuildOverlaid(map[string]string{path: faulty})
	if err != nil {
		t.Fatalf("the program cannot be built: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(binary)) })
	return binary
}
