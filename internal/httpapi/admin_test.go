package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
)

// administrators lists the operations that need an administrator's key, for the key with that id.
func administrators(id string) []string {
	return []string{
		request("GET", "/v1/keys", "{key}"),
		withBody(request("POST", "/v1/keys", "{key}"), `{"name":"mine","access":"admin"}`),
		request("GET", "/v1/keys/"+id, "{key}"),
		withBody(request("PATCH", "/v1/keys/"+id, "{key}"), `{"access":"admin"}`),
		request("POST", "/v1/keys/"+id+"/rotate", "{key}"),
		request("POST", "/v1/keys/"+id+"/revoke", "{key}"),
		request("POST", "/v1/keys/"+id+"/unban", "{key}"),
		request("GET", "/v1/keys/"+id+"/usage", "{key}"),
		request("GET", "/v1/store", "{key}"),
	}
}

// A key that is not an administrator's gets the same answer for every id, so that it learns nothing about other keys.
func TestOtherKeysLearnAndChangeNothingAboutKeys(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) {
		s := serve(t, on(open(t)))
		_, admin := s.admin()
		for _, access := range []petstore.Access{petstore.ReadOnly, petstore.ReadWrite} {
			key := petstore.NewKey("other", petstore.Enterprise, petstore.FirstKeyLimits, noon, petstore.Forever)
			key.Access = access
			secret, own := s.createKey(key)
			want := ""
			for _, id := range []string{admin.ID, own.ID, "key_000000000", "7", strings.Repeat("a", 5000)} {
				for _, raw := range administrators(id) {
					got := s.send(strings.Replace(raw, "{key}", secret, 1))
					got.is(t, 403, "forbidden")
					if want == "" {
						want = got.body
					}
					if got.body != want {
						t.Errorf("%.60s gets %s, others get %s", raw, got.body, want)
					}
				}
			}
		}
		keys, err := s.storage.Keys(t.Context())
		if err != nil || len(keys) != 3 || slices.ContainsFunc(keys, func(k petstore.Key) bool { return !k.RevokedAt.IsZero() || !k.RotatedAt.IsZero() }) {
			t.Errorf("the keys are now %+v, %v", keys, err)
		}
	})
}

func TestOfTwoAdministratorsWhoRevokeEachOtherOneRemains(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) {
		storage := open(t)
		for range 20 {
			replicas := [2]*service{serve(t, on(storage)), serve(t, on(storage))}
			var secrets [2]string
			var keys [2]petstore.Key
			for i, s := range replicas {
				secrets[i], keys[i] = s.admin()
				s.get(secrets[i], "/v1/key").is(t, 200, "")
			}
			var got [2]*answer
			replicas[0].atOnce(2, func(i int) (err error) {
				got[i], err = replicas[i].try(request("POST", "/v1/keys/"+keys[1-i].ID+"/revoke", secrets[i]))
				return err
			})
			winner := slices.IndexFunc(got[:], func(a *answer) bool { return a.status == 200 })
			if winner < 0 {
				t.Fatalf("both were refused:\n%s\n%s", got[0].raw, got[1].raw)
			}
			got[1-winner].is(t, 401, "unauthorized")
			replicas[winner].get(secrets[winner], "/v1/keys").is(t, 200, "")
			replicas[winner].get(secrets[1-winner], "/v1/keys").is(t, 401, "unauthorized")
			replicas[1-winner].clock.step(5 * time.Second)
			replicas[1-winner].get(secrets[1-winner], "/v1/keys").is(t, 401, "unauthorized")
		}
	})
}

// A change is effective at once on the replica that made it. Another replica has the key in its cache.
func TestChangeOfAKeyIsEffectiveOnEveryReplicaWithin5Seconds(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) {
		storage := open(t)
		here, there := serve(t, on(storage)), serve(t, on(storage))
		admin, _ := here.admin()
		for _, c := range []struct {
			verb, body string
			effective  func(*answer) bool
		}{
			{"/revoke", "", func(a *answer) bool { return a.status == 401 }},
			{"/rotate", `{"overlapSeconds":0}`, func(a *answer) bool { return a.status == 401 }},
			{"", `{"plan":"pro"}`, func(a *answer) bool { return a.header.Get("X-RateLimit-Limit") == "300" }},
			{"", `{"access":"read"}`, func(a *answer) bool { return a.status == 403 }},
			{"", `{"expiresAt":"2026-11-15T12:00:00.001Z"}`, func(a *answer) bool { return a.status == 401 }},
		} {
			secret, key := here.createKey(petstore.NewKey("busy", petstore.Free, petstore.Limits{PerMinute: 60, PerDay: 1000}, noon, petstore.Forever))
			use := func(s *service) *answer {
				return s.send(withBody(request("POST", "/v1/categories", secret), `{"name":7}`))
			}
			for _, s := range []*service{here, there} {
				use(s).is(t, 400, "invalid_field")
			}
			method := "POST"
			if c.verb == "" {
				method = "PATCH"
			}
			if got := here.send(withBody(request(method, "/v1/keys/"+key.ID+c.verb, admin), c.body)); got.status >= 300 {
				t.Fatalf("%s%s: %s", c.verb, c.body, got.raw)
			}
			if c.verb == "/revoke" { // getOwnKey sees the revocation before the cache does
				there.get(secret, "/v1/key").is(t, 401, "unauthorized")
			}
			here.clock.step(time.Millisecond)
			there.clock.step(5 * time.Second)
			for replica, s := range map[string]*service{"here": here, "there": there} {
				if got := use(s); !c.effective(got) {
					t.Errorf("%s%s is not effective %s: %s", c.verb, c.body, replica, got.raw)
				}
			}
			here.clock.step(-time.Millisecond)
			there.clock.step(-5 * time.Second)
		}
	})
}

// The look-up of a key begins before its revocation and ends after it. Its result must not be cached.
func TestRevocationIsEffectiveAtOnceDuringALookUp(t *testing.T) {
	storage := openHooked(t)
	s := serve(t, on(storage))
	admin, _ := s.admin()
	secret, key := s.createKey(petstore.NewKey("busy", petstore.Free, petstore.Limits{PerMinute: 60, PerDay: 1000}, noon, petstore.Forever))
	s.get(admin, "/v1/key").is(t, 200, "")
	found, release := make(chan struct{}), make(chan struct{})
	storage.setFound(func() {
		close(found)
		<-release
	})
	done := make(chan error)
	go func() {
		_, err := s.try(request("GET", "/v1/key", secret))
		done <- err
	}()
	<-found
	storage.setFound(nil)
	s.send(request("POST", "/v1/keys/"+key.ID+"/revoke", admin)).is(t, 200, "")
	close(release)
	noError(t, <-done)
	s.get(secret, "/v1/pets").is(t, 401, "unauthorized")
}

func TestEveryKeyOfTwentyThousandIsListedOnce(t *testing.T) {
	const n = 20_000
	s := serve(t)
	secret, _ := s.admin()
	keys := make([]petstore.StoredKey, n-1)
	for i := range keys {
		key := petstore.NewKey(fmt.Sprint("key ", i), petstore.Free, petstore.Limits{PerMinute: 60, PerDay: 1000}, noon.Add(time.Duration(i/7)*time.Second), petstore.Forever)
		keys[i] = petstore.StoredKey{Key: key, Hash: petstore.HashSecret(key.ID)}
	}
	noError(t, s.storage.(petstore.Target).ReplaceKeys(t.Context(), keys))
	seen := make(map[string]bool)
	var newest string
	for target := "/v1/keys?limit=100"; target != ""; {
		got, err := roundTrip(s.address, request("GET", target, secret)) // the comparison with the document would take most of the time
		noError(t, err)
		got.is(t, 200, "")
		var page []struct{ ID, CreatedAt string }
		noError(t, json.Unmarshal([]byte(got.body), &page))
		for _, key := range page {
			if seen[key.ID] || newest != "" && key.CreatedAt > newest {
				t.Fatalf("%+v is listed after one created at %s, or twice", key, newest)
			}
			seen[key.ID], newest = true, key.CreatedAt
		}
		link, _, more := strings.Cut(strings.TrimPrefix(got.header.Get("Link"), "<"), ">")
		if target = link; !more {
			target = ""
		}
	}
	if len(seen) != n {
		t.Errorf("%d keys are listed, want %d", len(seen), n)
	}
}

func TestUsageIsThatOfTheLastHours(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) {
		s := serve(t, on(open(t)), func(c *httpapi.Config) { c.Now = time.Now })
		secret, key := s.admin()
		current := time.Now().UTC().Truncate(time.Hour)
		var added []petstore.OwnerUsage
		for _, ago := range []int{0, 1, 23, 24, 743} {
			added = append(added, petstore.OwnerUsage{Owner: key.Owner, Usage: petstore.Usage{Hour: current.Add(-time.Duration(ago) * time.Hour), Passed: int64(ago + 1), Refused: 2}})
		}
		_, err := s.storage.(petstore.Upkeep).AddUsage(t.Context(), added, nil)
		noError(t, err)
		for query, want := range map[string][]int64{"": {24, 2, 1}, "?hours=1": {1}, "?hours=2": {2, 1}, "?hours=24": {24, 2, 1}, "?hours=25": {25, 24, 2, 1}, "?hours=744": {744, 25, 24, 2, 1}} {
			for _, target := range []string{"/v1/key/usage", "/v1/keys/" + key.ID + "/usage"} {
				var usage []struct {
					Hour    time.Time
					Passed  int64
					Refused int64
				}
				got := s.get(secret, target+query)
				got.is(t, 200, "")
				noError(t, json.Unmarshal([]byte(got.body), &usage))
				var passed []int64
				for _, u := range usage {
					if passed = append(passed, u.Passed); u.Refused != 2 || u.Hour != current.Add(-time.Duration(u.Passed-1)*time.Hour) {
						t.Errorf("%s%s shows %+v", target, query, u)
					}
				}
				if !slices.Equal(passed, want) && time.Now().UTC().Truncate(time.Hour).Equal(current) {
					t.Errorf("%s%s shows %v, want %v", target, query, passed, want)
				}
			}
		}
	})
}

func TestStoreDescribesItsDatabase(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) {
		s := serve(t, on(open(t)), func(c *httpapi.Config) { c.Version = "1.2.3" })
		secret, _ := s.admin()
		s.send(withBody(request("POST", "/v1/pets", secret), `{"name":"Rex","categoryId":1}`)).is(t, 201, "")
		s.send(withBody(request("POST", "/v1/pets/1/photos", secret, "Content-Type: image/jpeg"), string(jpegOf(s, 8, 6)))).is(t, 201, "")
		got := s.get(secret, "/v1/store")
		got.is(t, 200, "")
		var store struct {
			Version, Environment, Database            string
			DatabaseBytes, PhotoBytes, Events, Schema int64
		}
		noError(t, json.Unmarshal([]byte(got.body), &store))
		if store.Version != "1.2.3" || store.Environment != "production" || !strings.HasSuffix(t.Name(), "/"+store.Database) ||
			store.DatabaseBytes < 4096 || store.PhotoBytes < 100 || store.Events != 2 || store.Schema < 5 {
			t.Errorf("got %s", got.body)
		}
	})
}

// An audit line says who did what, without any secret; the test log fails the test if it has one.
func TestEveryChangeOfAKeyIsOneLineInTheLog(t *testing.T) {
	s := serve(t)
	secret, admin := s.admin()
	lines := func(event string) (found []map[string]any) {
		for line := range strings.Lines(s.log.String()) {
			var fields map[string]any
			noError(t, json.Unmarshal([]byte(line), &fields))
			if fields["msg"] == event {
				found = append(found, fields)
			}
		}
		return found
	}
	leaked := s.secret(petstore.Production)
	var made struct{ ID, Secret string }
	got := s.send(withBody(request("POST", "/v1/keys", secret, "X-Request-Id: audited", "Idempotency-Key: a"), `{"name":"`+leaked+` <img onerror>"}`))
	noError(t, json.Unmarshal([]byte(got.body), &made))
	s.log.secrets = append(s.log.secrets, made.Secret)
	s.send(withBody(request("POST", "/v1/keys", secret, "Idempotency-Key: a"), `{"name":"`+leaked+` <img onerror>"}`)).is(t, 409, "secret_shown")
	s.send(withBody(request("PATCH", "/v1/keys/"+made.ID, secret), `{"plan":"enterprise","perMinute":9,"perDay":99}`)).is(t, 200, "")
	s.send(withBody(request("PATCH", "/v1/keys/"+made.ID, secret), `{"access":"root"}`)).is(t, 400, "invalid_field")
	s.send(request("POST", "/v1/keys/"+made.ID+"/unban", secret)).is(t, 200, "")
	var next struct{ ID, Secret string }
	noError(t, json.Unmarshal([]byte(s.send(request("POST", "/v1/keys/"+made.ID+"/rotate", secret)).body), &next))
	s.log.secrets = append(s.log.secrets, next.Secret)
	for range 2 {
		s.send(request("POST", "/v1/keys/"+made.ID+"/revoke", secret, "Idempotency-Key: r")).is(t, 200, "")
	}
	s.send(request("POST", "/v1/keys/"+admin.ID+"/revoke", secret)).is(t, 409, "own_key")
	for event, id := range map[string]string{"key created": made.ID, "key updated": made.ID, "key unbanned": made.ID, "key rotated": next.ID, "key revoked": made.ID} {
		found := lines(event)
		if len(found) != 1 {
			t.Fatalf("%s is logged %d times:\n%s", event, len(found), s.log)
		}
		if line := found[0]; line["level"] != "INFO" || line["by"] != admin.ID || line["byName"] != "admin" || line["key"] != id || line["name"] != "pets_live_… <img onerror>" {
			t.Errorf("%s is logged as %v", event, line)
		}
	}
	if line := lines("key created")[0]; line["id"] != "audited" || line["access"] != "write" || line["plan"] != "free" {
		t.Errorf("a new key is logged as %v", line)
	}
	if line := lines("key updated")[0]; fmt.Sprint(line["changed"]) != "[plan perMinute perDay]" {
		t.Errorf("a change is logged as %v", line)
	}
	if line := lines("key rotated")[0]; line["old"] != made.ID || line["overlap"] != "24h0m0s" {
		t.Errorf("a rotation is logged as %v", line)
	}
}

func TestCursorsOfKeysAreOnlyThoseGivenOut(t *testing.T) {
	s := serve(t)
	secret, _ := s.admin()
	s.admin()
	link := s.get(secret, "/v1/keys?limit=1").header.Get("Link")
	target, _, _ := strings.Cut(strings.TrimPrefix(link, "<"), ">")
	u, err := url.Parse(target)
	noError(t, err)
	good := u.Query().Get("cursor")
	s.get(secret, "/v1/keys?cursor="+good).is(t, 200, "")
	for _, bad := range []string{
		"", "A", good[:len(good)-1], good + "A", good + "=", good + "%0A", "%0A" + good, "AQ" + good[2:], good[:len(good)-2] + "__", "AQAAAAAAAAAp", "BAAAAAAAAAAp",
		strings.Repeat("A", 30), strings.Repeat("A", 10_000), good + "&cursor=" + good,
	} {
		s.get(secret, "/v1/keys?cursor="+bad).is(t, 400, "invalid_parameter")
	}
}
