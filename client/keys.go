package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Plan is the subscription of a key's owner. The service may have plans that are not listed here yet.
type Plan string

// The plans. All but Enterprise have published limits.
const (
	Free       Plan = "free"
	Pro        Plan = "pro"
	Business   Plan = "business"
	Enterprise Plan = "enterprise"
)

// Access says what a key may do.
type Access string

// What a key may do. Each level includes the levels before it.
const (
	ReadOnly  Access = "read"
	ReadWrite Access = "write"
	Admin     Access = "admin" // may call every operation on keys
)

// Key describes an API key. A zero time means never.
type Key struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`  // what the key is for, or who uses it
	Owner       string    `json:"owner"` // whose requests are counted; the keys of a rotation have the same owner
	Plan        Plan      `json:"plan"`
	PerMinute   int64     `json:"perMinute"` // how many requests the owner may make in a minute
	PerDay      int64     `json:"perDay"`    // and in a day
	Access      Access    `json:"access"`
	CreatedAt   time.Time `json:"createdAt"`
	ExpiresAt   time.Time `json:"expiresAt,omitzero"`
	RevokedAt   time.Time `json:"revokedAt,omitzero"`
	BannedUntil time.Time `json:"bannedUntil,omitzero"` // zero if the owner is not banned now
	LastUsedAt  time.Time `json:"lastUsedAt,omitzero"`  // the beginning of the hour in which the key was last used
	// Secret is the API key itself. Only CreateKey and RotateKey return it, and the service does not store it.
	Secret string `json:"secret,omitempty"`
}

func (k *Key) missing() bool { return k.ID == "" }

// KeyQuery selects keys.
type KeyQuery struct {
	Active bool   // selects only the keys that are neither revoked nor expired
	Limit  int    // the number of keys per page, up to 100; if zero, ListKeys uses 20 and Keys 100
	Cursor string // the value of Next in the page before; empty for the first page
}

func (q KeyQuery) encode() string {
	v := paging(q.Limit, q.Cursor)
	if q.Active {
		v.Set("active", "true")
	}
	return v.Encode()
}

// ListKeys returns one page of keys, the newest first. It needs an administrator's key.
func (c *Client) ListKeys(ctx context.Context, q KeyQuery, options ...CallOption) (Page[Key], error) {
	return page[Key](ctx, c, "/keys", q.encode(), options)
}

// Keys iterates over all keys, the newest first, page by page. An error ends the iteration. It needs an administrator's key.
func (c *Client) Keys(ctx context.Context, q KeyQuery, options ...CallOption) iter.Seq2[Key, error] {
	q.Limit = walkLimit(q.Limit)
	return walk[Key](ctx, c, "/keys", q.encode(), options)
}

// GetOwnKey returns the key with which the client calls the service.
func (c *Client) GetOwnKey(ctx context.Context, options ...CallOption) (k Key, err error) {
	err = c.call(ctx, http.MethodGet, "/key", &k, options)
	return k, err
}

// GetKey returns the key with that id. It needs an administrator's key.
func (c *Client) GetKey(ctx context.Context, id string, options ...CallOption) (k Key, err error) {
	err = c.call(ctx, http.MethodGet, keyPath(id), &k, options)
	return k, err
}

func keyPath(id string) string { return "/keys/" + url.PathEscape(id) }

// NewKey describes a key to create. A field other than Name may be zero.
type NewKey struct {
	Name      string    `json:"name"`
	Plan      Plan      `json:"plan,omitempty"`      // if empty, Free
	PerMinute int64     `json:"perMinute,omitempty"` // Enterprise needs both limits, and the other plans have their own
	PerDay    int64     `json:"perDay,omitempty"`
	Access    Access    `json:"access,omitempty"`   // if empty, ReadWrite
	ExpiresAt time.Time `json:"expiresAt,omitzero"` // if zero, the key has no end
}

func (n NewKey) texts() []string { return []string{n.Name, string(n.Plan), string(n.Access)} }

// CreateKey creates a key for a new owner and returns it with its Secret. It needs an administrator's key. Retries of the call
// create no second key: if the answer to an earlier try was lost, CreateKey returns ErrSecretShown, whose message names the
// key that was created.
func (c *Client) CreateKey(ctx context.Context, n NewKey, options ...CallOption) (k Key, err error) {
	err = c.callWith(ctx, http.MethodPost, "/keys", n, &k, options)
	return k, err
}

// KeyPatch says what to change about a key. A nil field stays as it is. Plan and limits change for all keys of the owner.
type KeyPatch struct {
	Name      *string
	Plan      *Plan
	PerMinute *int64
	PerDay    *int64
	Access    *Access
	ExpiresAt *time.Time // the zero time removes the end of the key
}

func (p KeyPatch) texts() (texts []string) {
	for _, text := range []*string{p.Name, (*string)(p.Plan), (*string)(p.Access)} {
		if text != nil {
			texts = append(texts, *text)
		}
	}
	return texts
}

// MarshalJSON returns a JSON Merge Patch, in which null removes a field.
func (p KeyPatch) MarshalJSON() ([]byte, error) {
	patch := make(map[string]any)
	add(patch, "name", p.Name)
	add(patch, "plan", p.Plan)
	add(patch, "perMinute", p.PerMinute)
	add(patch, "perDay", p.PerDay)
	add(patch, "access", p.Access)
	add(patch, "expiresAt", p.ExpiresAt)
	if p.ExpiresAt != nil && p.ExpiresAt.IsZero() {
		patch["expiresAt"] = nil
	}
	return json.Marshal(patch)
}

// add adds a member to a patch unless value is nil.
func add[T any](patch map[string]any, name string, value *T) {
	if value != nil {
		patch[name] = *value
	}
}

// UpdateKey changes a key and returns the changed key. It needs an administrator's key. It returns ErrKeyRevoked if the key is
// revoked, and ErrOwnKey if the change would lock the administrator out.
func (c *Client) UpdateKey(ctx context.Context, id string, patch KeyPatch, options ...CallOption) (k Key, err error) {
	err = c.callWith(ctx, http.MethodPatch, keyPath(id), patch, &k, options)
	return k, err
}

// Rotation says how to rotate a key.
type Rotation struct {
	Overlap *time.Duration // how long the old key keeps working, in whole seconds, up to 30 days; if nil, 24 hours
}

type rotation struct {
	OverlapSeconds *int64 `json:"overlapSeconds,omitempty"`
}

func (rotation) texts() []string { return nil }

// RotateKey replaces a key with a new one of the same owner, and returns the new key with its Secret. It needs an
// administrator's key. It returns ErrKeyRevoked if the key has ended or was rotated before, and ErrOwnKey if it is the key of
// the client. Like CreateKey, it returns ErrSecretShown if the answer to an earlier try was lost.
func (c *Client) RotateKey(ctx context.Context, id string, r Rotation, options ...CallOption) (k Key, err error) {
	var body rotation
	if r.Overlap != nil {
		seconds, err := wholeSeconds("Overlap", *r.Overlap)
		if err != nil {
			return k, err
		}
		body.OverlapSeconds = &seconds
	}
	err = c.callWith(ctx, http.MethodPost, keyPath(id)+"/rotate", body, &k, options)
	return k, err
}

// RevokeKey ends a key for good and returns it. It needs an administrator's key. If the key is already revoked, RevokeKey
// changes nothing. It returns ErrOwnKey if it is the key of the client or the last administrator's key.
func (c *Client) RevokeKey(ctx context.Context, id string, options ...CallOption) (k Key, err error) {
	err = c.call(ctx, http.MethodPost, keyPath(id)+"/revoke", &k, options)
	return k, err
}

// UnbanKey lifts the ban of a key's owner and returns the key. It needs an administrator's key.
func (c *Client) UnbanKey(ctx context.Context, id string, options ...CallOption) (k Key, err error) {
	err = c.call(ctx, http.MethodPost, keyPath(id)+"/unban", &k, options)
	return k, err
}
