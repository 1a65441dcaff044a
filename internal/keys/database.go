package keys

import (
	"context"
	"time"

	"petstore/client"
	"petstore/internal/database"
	"petstore/internal/petstore"
)

// databaseKeys are the keys in a database. It logs every change, because no server does.
type databaseKeys struct {
	storage     *database.Storage
	environment petstore.Environment
	audit       audit
}

// describe returns a key as the API describes it.
func describe(k petstore.Key, now time.Time) client.Key {
	if !k.Banned(now) {
		k.BannedUntil = time.Time{}
	}
	return client.Key{
		ID: k.ID, Name: k.Name, Owner: k.Owner, Plan: client.Plan(k.Plan), PerMinute: k.Limits.PerMinute, PerDay: k.Limits.PerDay,
		Access: client.Access(k.Access), CreatedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt,
		BannedUntil: k.BannedUntil, LastUsedAt: k.LastUsedAt,
	}
}

func (d *databaseKeys) list(ctx context.Context, active bool) (list []client.Key, err error) {
	keys, err := d.storage.Keys(ctx)
	now := time.Now()
	for _, k := range keys {
		if !active || k.Usable(now) == nil {
			list = append(list, describe(k, now))
		}
	}
	return list, err
}

func (d *databaseKeys) get(ctx context.Context, id string) (client.Key, error) {
	key, err := d.storage.GetKey(ctx, id)
	return describe(key, time.Now()), err
}

func (d *databaseKeys) create(ctx context.Context, change petstore.KeyChange) (client.Key, error) {
	now := time.Now()
	key, err := change.NewKey(now)
	if err != nil {
		return client.Key{}, err
	}
	secret := petstore.NewSecret(d.environment)
	if err := d.storage.CreateKey(ctx, key, petstore.HashSecret(secret), petstore.ByOperator(now)); err != nil {
		return client.Key{}, err
	}
	d.audit.log(ctx, "key created", key)
	created := describe(key, now)
	created.Secret = secret
	return created, nil
}

func (d *databaseKeys) rotate(ctx context.Context, id string, overlap time.Duration) (client.Key, error) {
	now, secret := time.Now(), petstore.NewSecret(d.environment)
	rotation := petstore.Rotation{Overlap: overlap, KeepLifetime: true}
	key, err := d.storage.RotateKey(ctx, id, petstore.HashSecret(secret), rotation, petstore.ByOperator(now))
	if err != nil {
		return client.Key{}, err
	}
	d.audit.log(ctx, "key rotated", key, "old", id, "overlap", overlap.String())
	successor := describe(key, now)
	successor.Secret = secret
	return successor, nil
}

func (d *databaseKeys) update(ctx context.Context, id string, change petstore.KeyChange) (client.Key, error) {
	now := time.Now()
	key, _, err := d.storage.UpdateKey(ctx, id, change, petstore.ByOperator(now))
	return d.changed(ctx, "key updated", key, now, err, "changed", members(change))
}

func (d *databaseKeys) revoke(ctx context.Context, id string) (client.Key, error) {
	now := time.Now()
	key, _, err := d.storage.RevokeKey(ctx, id, petstore.ByOperator(now))
	return d.changed(ctx, "key revoked", key, now, err)
}

func (d *databaseKeys) unban(ctx context.Context, id string) (client.Key, error) {
	now := time.Now()
	key, _, err := d.storage.UnbanKey(ctx, id, petstore.ByOperator(now))
	return d.changed(ctx, "key unbanned", key, now, err)
}

// changed logs a change of a key and describes the key.
func (d *databaseKeys) changed(ctx context.Context, event string, key petstore.Key, now time.Time, err error, details ...any) (client.Key, error) {
	if err != nil {
		return client.Key{}, err
	}
	d.audit.log(ctx, event, key, details...)
	return describe(key, now), nil
}

func (d *databaseKeys) usage(ctx context.Context, key client.Key, hours int) (list []client.Usage, err error) {
	used, err := d.storage.Usage(ctx, key.Owner, firstHour(time.Now(), hours))
	for _, u := range used {
		list = append(list, client.Usage(u))
	}
	return list, err
}

// usageByOwner reads the usage of all owners together, because a query for each of them would take much longer.
func (d *databaseKeys) usageByOwner(ctx context.Context, _ []client.Key, hours int) (map[string][]client.Usage, error) {
	const page = 10_000
	byOwner := make(map[string][]client.Usage)
	last := petstore.OwnerUsage{Usage: petstore.Usage{Hour: firstHour(time.Now(), hours)}}
	for {
		used, err := d.storage.StoredUsage(ctx, last, page)
		if err != nil {
			return nil, err
		}
		for _, u := range used {
			byOwner[u.Owner] = append(byOwner[u.Owner], client.Usage(u.Usage))
		}
		if len(used) < page {
			return byOwner, nil
		}
		last = used[len(used)-1]
	}
}

// firstHour returns the beginning of the first of the last hours, of which the current hour is one.
func firstHour(now time.Time, hours int) time.Time {
	return now.UTC().Truncate(time.Hour).Add(-time.Duration(hours-1) * time.Hour)
}

// members returns the names that the API gives to the properties in a change.
func members(c petstore.KeyChange) (names []string) {
	for _, member := range []struct {
		name  string
		given bool
	}{
		{"name", c.Name != nil}, {"plan", c.Plan != nil}, {"perMinute", c.PerMinute != nil}, {"perDay", c.PerDay != nil},
		{"access", c.Access != nil}, {"expiresAt", c.Lifetime != nil},
	} {
		if member.given {
			names = append(names, member.name)
		}
	}
	return names
}
