package clienttest

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"petstore/client"
	"petstore/internal/httpapi"
	"petstore/internal/petstore"
)

// administered starts a real service and returns a client with an administrator's key.
func administered(t *testing.T, settings ...func(*httpapi.Config)) (*client.Client, *service) {
	t.Helper()
	s := testService(t, settings...)
	secret, err := s.key(t.Context(), petstore.Enterprise, petstore.Admin, 1_000_000, 100_000_000)
	noError(t, err)
	return through(t, s, secret), s
}

func TestAdministratorsManageKeys(t *testing.T) {
	admin, s := administered(t)
	ctx := t.Context()
	own := must(admin.GetOwnKey(ctx))(t)
	if own.Access != client.Admin || own.ID == "" || own.CreatedAt.IsZero() || own.Secret != "" {
		t.Errorf("the key that asks is %+v", own)
	}
	end := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
	made := must(admin.CreateKey(ctx, client.NewKey{Name: "Zoë & <co>", Plan: client.Enterprise, PerMinute: 10, PerDay: 100, Access: client.ReadOnly, ExpiresAt: end}))(t)
	secret := made.Secret
	made.Secret = ""
	if made.Name != "Zoë & <co>" || made.Plan != client.Enterprise || made.PerMinute != 10 || made.PerDay != 100 || made.Access != client.ReadOnly || !made.ExpiresAt.Equal(end) {
		t.Errorf("created %+v", made)
	}
	found, err := admin.GetKey(ctx, made.ID)
	wantResult(t, found, err, made)
	user := through(t, s, secret)
	_, err = user.GetKey(ctx, made.ID)
	wantRefusal(t, err, client.ErrForbidden, 403)

	changed := must(admin.UpdateKey(ctx, made.ID, client.KeyPatch{Name: new("kennel"), Plan: new(client.Pro), Access: new(client.ReadWrite), ExpiresAt: new(time.Time)}))(t)
	if changed.Name != "kennel" || changed.PerMinute != 300 || changed.PerDay != 10_000 || changed.Access != client.ReadWrite || !changed.ExpiresAt.IsZero() {
		t.Errorf("changed to %+v", changed)
	}
	changed = must(admin.UpdateKey(ctx, made.ID, client.KeyPatch{Plan: new(client.Enterprise), PerMinute: new(int64(7)), PerDay: new(int64(70)), ExpiresAt: &end}))(t)
	if changed.PerMinute != 7 || changed.PerDay != 70 || !changed.ExpiresAt.Equal(end) {
		t.Errorf("changed to %+v", changed)
	}
	_, err = admin.RotateKey(ctx, made.ID, client.Rotation{Overlap: new(time.Millisecond)})
	if !errors.Is(err, client.ErrInvalidField) {
		t.Errorf("an overlap of a millisecond gives %v", err)
	}
	next := must(admin.RotateKey(ctx, made.ID, client.Rotation{Overlap: new(time.Duration(0))}))(t)
	if next.Owner != made.Owner || next.ID == made.ID || next.Secret == "" || next.Secret == secret || !next.ExpiresAt.IsZero() {
		t.Errorf("the successor is %+v", next)
	}
	_, err = admin.RotateKey(ctx, made.ID, client.Rotation{})
	wantRefusal(t, err, client.ErrKeyRevoked, 409)
	revoked := must(admin.RevokeKey(ctx, next.ID))(t)
	if revoked.RevokedAt.IsZero() {
		t.Errorf("revoked %+v", revoked)
	}
	_, err = admin.RevokeKey(ctx, own.ID)
	wantRefusal(t, err, client.ErrOwnKey, 409)
	_, err = admin.UnbanKey(ctx, "key_000000000")
	wantRefusal(t, err, client.ErrNotFound, 404)
	if key := must(admin.UnbanKey(ctx, next.ID))(t); key.ID != next.ID {
		t.Errorf("unbanned %+v", key)
	}

	var ids, active []string
	for key, err := range admin.Keys(ctx, client.KeyQuery{Limit: 1}) {
		noError(t, err)
		ids = append(ids, key.ID)
	}
	for key, err := range admin.Keys(ctx, client.KeyQuery{Active: true}) {
		noError(t, err)
		active = append(active, key.ID)
	}
	if len(ids) != 3 || !reflect.DeepEqual(active, []string{own.ID}) {
		t.Errorf("the keys are %q, and those that can be used are %q", ids, active)
	}
}

func TestAKeyIsCreatedOnceAndItsSecretShownOnce(t *testing.T) {
	admin, _ := administered(t)
	once := client.WithIdempotencyKey("k")
	made := must(admin.CreateKey(t.Context(), client.NewKey{Name: "once"}, once))(t)
	_, err := admin.CreateKey(t.Context(), client.NewKey{Name: "once"}, once)
	wantRefusal(t, err, client.ErrSecretShown, 409)
	if err != nil && (!strings.Contains(err.Error(), made.ID) || strings.Contains(err.Error(), made.Secret)) {
		t.Errorf("the refusal does not name the key, or shows its secret: %v", err)
	}
}

func TestUsageAndStoreCanBeRead(t *testing.T) {
	admin, s := administered(t)
	ctx := t.Context()
	own := must(admin.GetOwnKey(ctx))(t)
	hour := time.Now().UTC().Truncate(time.Hour)
	_, err := s.storage.(petstore.Upkeep).AddUsage(ctx, []petstore.OwnerUsage{{Owner: own.Owner, Usage: petstore.Usage{Hour: hour, Passed: 5, Refused: 2}}}, nil)
	noError(t, err)
	want := []client.Usage{{Hour: hour, Passed: 5, Refused: 2}}
	usage, err := admin.GetOwnUsage(ctx, 0)
	wantResult(t, usage, err, want)
	usage, err = admin.GetKeyUsage(ctx, own.ID, 744)
	wantResult(t, usage, err, want)
	_, err = admin.GetOwnUsage(ctx, 745)
	wantRefusal(t, err, client.ErrInvalidParameter, 400)
	store := must(admin.GetStore(ctx))(t)
	if store.Database != "sqlite" || store.Environment != "production" || store.DatabaseBytes == 0 || store.Schema == 0 {
		t.Errorf("the store is %+v", store)
	}
}
