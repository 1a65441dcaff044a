package keys

import (
	"context"
	"slices"
	"time"

	"petstore/client"
	"petstore/internal/petstore"
)

// serverKeys are the keys of a server. The server logs every change.
type serverKeys struct{ store *client.Client }

func (s serverKeys) list(ctx context.Context, active bool) (list []client.Key, err error) {
	for key, err := range s.store.Keys(ctx, client.KeyQuery{Active: active}) {
		if err != nil {
			return nil, err
		}
		list = append(list, key)
	}
	slices.Reverse(list)
	return list, nil
}

func (s serverKeys) get(ctx context.Context, id string) (client.Key, error) {
	return s.store.GetKey(ctx, id)
}

func (s serverKeys) create(ctx context.Context, change petstore.KeyChange) (client.Key, error) {
	return s.store.CreateKey(ctx, client.NewKey{
		Name: valueOf(change.Name), Plan: client.Plan(valueOf(change.Plan)), PerMinute: valueOf(change.PerMinute), PerDay: valueOf(change.PerDay),
		Access: client.Access(valueOf(change.Access)), ExpiresAt: valueOf(expiry(change)),
	})
}

func (s serverKeys) update(ctx context.Context, id string, change petstore.KeyChange) (client.Key, error) {
	return s.store.UpdateKey(ctx, id, client.KeyPatch{
		Name: change.Name, Plan: (*client.Plan)(change.Plan), PerMinute: change.PerMinute, PerDay: change.PerDay,
		Access: (*client.Access)(change.Access), ExpiresAt: expiry(change),
	})
}

// expiry returns when the lifetime in a change ends, the zero time if never, or nil if the change has no lifetime.
func expiry(change petstore.KeyChange) *time.Time {
	switch {
	case change.Lifetime == nil:
		return nil
	case *change.Lifetime == petstore.Forever:
		return new(time.Time{})
	}
	return new(time.Now().Add(*change.Lifetime))
}

func valueOf[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}

func (s serverKeys) rotate(ctx context.Context, id string, overlap time.Duration) (client.Key, error) {
	return s.store.RotateKey(ctx, id, client.Rotation{Overlap: &overlap})
}

func (s serverKeys) revoke(ctx context.Context, id string) (client.Key, error) {
	return s.store.RevokeKey(ctx, id)
}

func (s serverKeys) unban(ctx context.Context, id string) (client.Key, error) {
	return s.store.UnbanKey(ctx, id)
}

func (s serverKeys) usage(ctx context.Context, key client.Key, hours int) ([]client.Usage, error) {
	return s.store.GetKeyUsage(ctx, key.ID, hours)
}

// usageByOwner asks only for the owners whose keys were used in these hours. The hour before counts too, because the time of
// the last use may be some seconds behind.
func (s serverKeys) usageByOwner(ctx context.Context, keys []client.Key, hours int) (map[string][]client.Usage, error) {
	since := firstHour(time.Now(), hours+1)
	byOwner := make(map[string][]client.Usage)
	for _, key := range keys {
		if _, asked := byOwner[key.Owner]; asked || key.LastUsedAt.Before(since) {
			continue
		}
		used, err := s.usage(ctx, key, hours)
		if err != nil {
			return nil, err
		}
		byOwner[key.Owner] = used
	}
	return byOwner, nil
}
