package petstore_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"petstore/internal/petstore"
)

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func TestSecretHasTheFormOfItsEnvironment(t *testing.T) {
	for env, prefix := range map[petstore.Environment]string{petstore.Production: "pets_live_", petstore.Staging: "pets_test_"} {
		secret := petstore.NewSecret(env)
		rest, ok := strings.CutPrefix(secret, prefix)
		if !ok || len(rest) != 27+6 || strings.Trim(rest, alphabet) != "" {
			t.Errorf("%s: %s is not %s with 33 letters and digits", env, secret, prefix)
		}
		if err := petstore.CheckSecret(env, secret); err != nil {
			t.Errorf("%s: %v", env, err)
		}
		if !petstore.IsBearerToken(secret) || petstore.CheckNamedSecret(secret) != nil {
			t.Errorf("%s cannot be sent as a bearer token", secret)
		}
	}
}

func TestSecretsDiffer(t *testing.T) {
	seen := make(map[string]bool)
	for range 1000 {
		secret := petstore.NewSecret(petstore.Production)
		if seen[secret] {
			t.Fatal("the same secret was made twice")
		}
		seen[secret] = true
	}
}

func TestEveryTypoInASecretIsRefused(t *testing.T) {
	secret := petstore.NewSecret(petstore.Production)
	for i := range secret {
		for _, c := range alphabet + "_- \x00" {
			if typo := secret[:i] + string(c) + secret[i+1:]; typo != secret {
				expectRefusal(t, petstore.CheckSecret(petstore.Production, typo), petstore.Error{Code: petstore.Unauthorized})
			}
		}
		expectRefusal(t, petstore.CheckSecret(petstore.Production, secret[:i]), petstore.Error{Code: petstore.Unauthorized})
		expectRefusal(t, petstore.CheckSecret(petstore.Production, secret+secret[:i+1]), petstore.Error{Code: petstore.Unauthorized})
	}
}

func TestRefusalOfASecretNamesTheOtherEnvironment(t *testing.T) {
	expectRefusal(t, petstore.CheckSecret(petstore.Production, petstore.NewSecret(petstore.Staging)),
		petstore.Error{Code: petstore.Unauthorized, Environment: petstore.Staging})
	expectRefusal(t, petstore.CheckSecret(petstore.Staging, petstore.NewSecret(petstore.Production)),
		petstore.Error{Code: petstore.Unauthorized, Environment: petstore.Production})
}

// expectRefusal fails the test unless err is a refusal that equals want.
func expectRefusal(t *testing.T, err error, want petstore.Error) {
	t.Helper()
	if got, _ := errors.AsType[*petstore.Error](err); !reflect.DeepEqual(got, &want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func FuzzCheckSecret(f *testing.F) {
	f.Fuzz(func(t *testing.T, token string) {
		production, staging := petstore.CheckSecret(petstore.Production, token), petstore.CheckSecret(petstore.Staging, token)
		if production == nil && staging == nil {
			t.Fatalf("%q is a key of both environments", token)
		}
		for env, err := range map[petstore.Environment]error{petstore.Production: production, petstore.Staging: staging} {
			if err != nil {
				if !petstore.IsCode(err, petstore.Unauthorized) {
					t.Fatalf("%q is refused with %v", token, err)
				}
				continue
			}
			for i := range token {
				if typo := token[:i] + string(nextLetter(token[i])) + token[i+1:]; petstore.CheckSecret(env, typo) == nil {
					t.Fatalf("%q and %q are both taken", token, typo)
				}
			}
		}
	})
}

// nextLetter returns the character that follows c in the alphabet of secrets.
func nextLetter(c byte) byte {
	return alphabet[(strings.IndexByte(alphabet, c)+1)%len(alphabet)]
}

func TestNamedSecretIsABearerTokenOf16To128Characters(t *testing.T) {
	for secret, allowed := range map[string]bool{
		strings.Repeat("a", 15):        false,
		strings.Repeat("a", 16):        true,
		strings.Repeat("a", 128):       true,
		strings.Repeat("a", 129):       false,
		"Az09-._~+/Az09-._~+/==":       true,
		"a=aaaaaaaaaaaaaaaaaaa":        false,
		"================":             false,
		"a secret with spaces":         false,
		"a-secret-with-ümlauts":        false,
		"a-secret-with-a-newline\n":    false,
		"\"a-secret-in-quotation-mark": false,
	} {
		if err := petstore.CheckNamedSecret(secret); (err == nil) != allowed {
			t.Errorf("%.30q: got %v, want it allowed: %v", secret, err, allowed)
		}
	}
}

func TestKeyIsUsableAndCanBeRotatedUntilItEnds(t *testing.T) {
	noon := time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)
	day := petstore.NewKey("ci", petstore.Free, petstore.Limits{PerMinute: 60, PerDay: 1000}, noon, 24*time.Hour)
	revoked := day
	revoked.RevokedAt = noon.Add(time.Hour)
	for _, c := range []struct {
		behaviour string
		key       petstore.Key
		after     time.Duration
		usable    bool
	}{
		{"a new key is usable", day, 0, true},
		{"a key is usable until it expires", day, 24*time.Hour - 1, true},
		{"a key has expired when its lifetime is over", day, 24 * time.Hour, false},
		{"a key without a lifetime never expires", petstore.NewKey("ci", petstore.Free, petstore.Limits{}, noon, petstore.Forever), 1e6 * time.Hour, true},
		{"a revoked key is refused at once", revoked, time.Hour, false},
		{"a revoked key is refused even if this clock is slow", revoked, 0, false},
		{"a key that was revoked and has expired is refused", revoked, 48 * time.Hour, false},
	} {
		t.Run(c.behaviour, func(t *testing.T) {
			now := noon.Add(c.after)
			_, next, unchangeable := c.key.Rotate(petstore.Rotation{}, now)
			if c.usable {
				if err := c.key.Usable(now); err != nil || unchangeable != nil {
					t.Errorf("got %v, %v", err, unchangeable)
				}
				return
			}
			expectRefusal(t, c.key.Usable(now), petstore.Error{Code: petstore.Unauthorized, Key: &c.key})
			expectRefusal(t, unchangeable, petstore.Error{Code: petstore.KeyRevoked, Key: &c.key})
			if next != (petstore.Key{}) {
				t.Errorf("its successor is %+v", next)
			}
		})
	}
}

func TestSuccessorInheritsOwnerPlanLimitsAndLifetime(t *testing.T) {
	noon := time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)
	old := petstore.NewKey("ci", petstore.Pro, petstore.Limits{PerMinute: 300, PerDay: 10_000}, noon, 90*24*time.Hour)
	old.BannedUntil = noon.Add(time.Hour)
	later := noon.Add(48 * time.Hour)

	_, got, err := old.Rotate(petstore.Rotation{KeepLifetime: true}, later)
	want := old
	want.ID, want.CreatedAt, want.ExpiresAt = got.ID, later, later.Add(90*24*time.Hour)
	if err != nil || got != want || got.ID == old.ID {
		t.Errorf("got %+v, %v; want %+v with an id of its own", got, err, want)
	}

	_, got, err = old.Rotate(petstore.Rotation{}, later)
	want.ID, want.Lifetime, want.ExpiresAt = got.ID, petstore.Forever, time.Time{}
	if err != nil || got != want {
		t.Errorf("without its lifetime: got %+v, %v; want %+v", got, err, want)
	}
}

func TestRotatedKeyEndsAfterTheOverlapAtTheLatest(t *testing.T) {
	noon := time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)
	endless := petstore.NewKey("ci", petstore.Free, petstore.Limits{}, noon, petstore.Forever)
	hour := petstore.NewKey("ci", petstore.Free, petstore.Limits{}, noon, time.Hour)
	for _, c := range []struct {
		key     petstore.Key
		overlap time.Duration
		want    time.Duration
	}{{endless, 24 * time.Hour, 24 * time.Hour}, {endless, 0, 0}, {hour, 24 * time.Hour, time.Hour}, {hour, time.Minute, time.Minute}} {
		retired, _, err := c.key.Rotate(petstore.Rotation{Overlap: c.overlap}, noon)
		want := c.key
		want.RotatedAt, want.ExpiresAt = noon, noon.Add(c.want)
		if err != nil || retired != want {
			t.Errorf("an overlap of %v leaves %+v, %v; want %+v", c.overlap, retired, err, want)
		}
	}
}

func TestRedactFindsKeysAnywhereInAText(t *testing.T) {
	live, staging := petstore.NewSecret(petstore.Production), petstore.NewSecret(petstore.Staging)
	for text, want := range map[string]string{
		live:                       "pets_live_…",
		"/v1/pets/" + live:         "/v1/pets/pets_live_…",
		"/%23key=" + staging + "/": "/%23key=pets_test_…/",
		live + "," + staging:       "pets_live_…,pets_test_…",
		live[:20]:                  "pets_live_…",
		"/v1/pets/7":               "/v1/pets/7",
		"/v1/pets_and_more":        "/v1/pets_and_more",
	} {
		if got := petstore.Redact(text); got != want {
			t.Errorf("%s becomes %s, want %s", text, got, want)
		}
	}
}
