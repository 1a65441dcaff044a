package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"petstore/internal/petstore"
)

// getOwnKey answers from the storage and not from the cache, so that it shows every change made before the request.
func (a *API) getOwnKey(x *exchange) error {
	key, err := a.Storage.GetKey(x.r.Context(), x.key.ID)
	if err == nil {
		err = key.Usable(x.start)
	}
	if err != nil {
		return err
	}
	return x.respond(http.StatusOK, encoded(key, x.appendKey))
}

func (a *API) getKey(x *exchange) error {
	key, err := a.Storage.GetKey(x.r.Context(), x.keyID())
	if err != nil {
		return err
	}
	return x.respond(http.StatusOK, encoded(key, x.appendKey))
}

// keyID returns the id of a key in the path.
func (x *exchange) keyID() string { return x.parameters[0] }

func (a *API) listKeys(x *exchange) error {
	q, err := parseQuery(x.r.URL.RawQuery, newKeysQuery(), keyParameters)
	if err != nil {
		return err
	}
	more := q.KeyQuery
	more.Limit++
	if q.active {
		more.UsableAt = x.start
	}
	keys, err := a.Storage.ListKeys(x.r.Context(), more)
	if err != nil {
		return err
	}
	return x.respondPage(pageOf(keys, q.Limit, x.appendKey, func(last petstore.Key) string { return a.links.nextKeys(q, last) }))
}

// keyRequest returns who asks for a change of keys.
func (x *exchange) keyRequest() petstore.KeyRequest {
	return petstore.KeyRequest{By: x.key.ID, Now: x.start, Idempotency: x.idempotency}
}

func (a *API) createKey(x *exchange) error {
	fields := keyFields{now: x.start}
	if err := newKeyBody.decode(x.body, &fields); err != nil {
		return err
	}
	key, err := fields.NewKey(x.start)
	if err != nil {
		return err
	}
	secret := petstore.NewSecret(a.Environment)
	if err := a.Storage.CreateKey(x.r.Context(), key, petstore.HashSecret(secret), x.keyRequest()); err != nil {
		return err
	}
	a.auditKey(x, "key created", key)
	return a.respondSecret(x, key, secret)
}

// defaultOverlap is how long a rotated key keeps working if the client does not say how long.
const defaultOverlap = 24 * time.Hour

func (a *API) rotateKey(x *exchange) error {
	rotation := petstore.Rotation{Overlap: defaultOverlap}
	if len(x.body) > 0 {
		if err := rotationBody.decode(x.body, &rotation); err != nil {
			return err
		}
	}
	secret := petstore.NewSecret(a.Environment)
	key, err := a.Storage.RotateKey(x.r.Context(), x.keyID(), petstore.HashSecret(secret), rotation, x.keyRequest())
	if err != nil {
		return err
	}
	a.keys.expire(key.Owner)
	a.auditKey(x, "key rotated", key, "old", x.keyID(), "overlap", rotation.Overlap.String())
	return a.respondSecret(x, key, secret)
}

// respondSecret prepares the only answer that ever contains the secret of a key.
func (a *API) respondSecret(x *exchange, key petstore.Key, secret string) error {
	return x.respondCreated(a.links.keys+"/"+key.ID, buildString(func(b []byte) []byte {
		b = x.appendKey(b, key)
		b = append(b[:len(b)-1], `,"secret":`...) // in place of the brace at the end
		return append(appendString(b, secret), '}')
	}))
}

func (a *API) updateKey(x *exchange) error {
	fields := keyFields{now: x.start}
	if err := keyPatchBody.decode(x.body, &fields); err != nil {
		return err
	}
	key, replayed, err := a.Storage.UpdateKey(x.r.Context(), x.keyID(), fields.KeyChange, x.keyRequest())
	return a.respondChanged(x, "key updated", key, replayed, err, "changed", fields.members())
}

func (a *API) revokeKey(x *exchange) error {
	key, replayed, err := a.Storage.RevokeKey(x.r.Context(), x.keyID(), x.keyRequest())
	return a.respondChanged(x, "key revoked", key, replayed, err)
}

func (a *API) unbanKey(x *exchange) error {
	key, replayed, err := a.Storage.UnbanKey(x.r.Context(), x.keyID(), x.keyRequest())
	return a.respondChanged(x, "key unbanned", key, replayed, err)
}

// respondChanged prepares the answer to a change of a key, makes the change effective on this replica, and logs it.
func (a *API) respondChanged(x *exchange, event string, key petstore.Key, replayed bool, err error, details ...any) error {
	if err != nil {
		return err
	}
	if !replayed {
		a.keys.expire(key.Owner)
		a.auditKey(x, event, key, details...)
	}
	x.markReplayed(replayed)
	return x.respond(http.StatusOK, encoded(key, x.appendKey))
}

// auditKey logs what an administrator did to a key. A name may contain a secret by mistake.
func (a *API) auditKey(x *exchange, event string, key petstore.Key, details ...any) {
	a.Log.InfoContext(x.r.Context(), event, append([]any{
		"id", x.requestID, "by", x.key.ID, "byName", a.redact(x.key.Name),
		"key", key.ID, "name", a.redact(key.Name), "owner", key.Owner, "access", string(key.Access), "plan", string(key.Plan),
	}, details...)...)
}

// members returns the names of the members that a patch has.
func (k keyFields) members() []string {
	names := []string{}
	for _, member := range []struct {
		name  string
		given bool
	}{
		{"name", k.Name != nil}, {"plan", k.Plan != nil}, {"perMinute", k.PerMinute != nil}, {"perDay", k.PerDay != nil},
		{"access", k.Access != nil}, {"expiresAt", k.ExpiresAt != nil},
	} {
		if member.given {
			names = append(names, member.name)
		}
	}
	return names
}

// The query for usage selects the current hour and the hours before it, as many as the client asks for.
const (
	defaultUsageHours = 24
	maxUsageHours     = int64(petstore.UsageKept / time.Hour)
)

func (a *API) getOwnUsage(x *exchange) error {
	return a.respondUsage(x, func(context.Context) (petstore.Key, error) { return *x.key, nil })
}

func (a *API) getKeyUsage(x *exchange) error {
	return a.respondUsage(x, func(ctx context.Context) (petstore.Key, error) { return a.Storage.GetKey(ctx, x.keyID()) })
}

func (a *API) respondUsage(x *exchange, find func(context.Context) (petstore.Key, error)) error {
	hours, err := parseQuery(x.r.URL.RawQuery, defaultUsageHours, usageParameters)
	if err != nil {
		return err
	}
	key, err := find(x.r.Context())
	if err != nil {
		return err
	}
	since := x.start.Truncate(time.Hour).Add(-time.Duration(hours-1) * time.Hour)
	usage, err := a.Storage.Usage(x.r.Context(), key.Owner, since)
	if err != nil {
		return err
	}
	return x.respond(http.StatusOK, buildString(func(b []byte) []byte { return appendList(b, usage, appendUsage) }))
}

// appendKey appends one key as JSON. It leaves out what the key does not have, and a ban that is over.
func (x *exchange) appendKey(b []byte, k petstore.Key) []byte {
	b = appendString(append(b, `{"id":`...), k.ID)
	b = appendString(append(b, `,"name":`...), k.Name)
	b = appendString(append(b, `,"owner":`...), k.Owner)
	b = appendString(append(b, `,"plan":`...), string(k.Plan))
	b = strconv.AppendInt(append(b, `,"perMinute":`...), k.Limits.PerMinute, 10)
	b = strconv.AppendInt(append(b, `,"perDay":`...), k.Limits.PerDay, 10)
	b = appendString(append(b, `,"access":`...), string(k.Access))
	if !k.Banned(x.start) {
		k.BannedUntil = time.Time{}
	}
	for _, moment := range []struct {
		name string
		at   time.Time
	}{
		{`,"createdAt":"`, k.CreatedAt}, {`,"expiresAt":"`, k.ExpiresAt}, {`,"revokedAt":"`, k.RevokedAt},
		{`,"bannedUntil":"`, k.BannedUntil}, {`,"lastUsedAt":"`, k.LastUsedAt},
	} {
		if !moment.at.IsZero() {
			b = appendTime(b, moment.name, moment.at)
		}
	}
	return append(b, '}')
}

func appendUsage(b []byte, u petstore.Usage) []byte {
	b = appendTime(b, `{"hour":"`, u.Hour)
	b = strconv.AppendInt(append(b, `,"passed":`...), u.Passed, 10)
	b = strconv.AppendInt(append(b, `,"refused":`...), u.Refused, 10)
	return append(b, '}')
}
