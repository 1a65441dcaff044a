package petstore

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// KeyRequest says who asks for a change of keys, and when. Before it changes anything, a Storage checks what the rules for
// administrators say: Authorize, and afterwards CheckEffect. It does so in the transaction of the change, so that of two
// administrators who end each other's keys at the same time, one remains.
type KeyRequest struct {
	// By is the id of the administrator's key that asks. If it is empty, an operator asks, who works on the database itself.
	// The rules for administrators do not bind an operator.
	By string
	// Now is when the request arrived.
	Now time.Time
	// Idempotency identifies the request, if it must be done only once.
	Idempotency *Idempotency
}

// ByOperator returns the request of an operator.
func ByOperator(now time.Time) KeyRequest { return KeyRequest{Now: now} }

// Authorize returns nil if the key that asks may change keys. Otherwise it returns an Error with the code Unauthorized if
// the key is no longer usable, or Forbidden if it is not an administrator's.
func (r KeyRequest) Authorize(asking Key) error {
	if err := asking.Usable(r.Now); err != nil {
		return err
	}
	if asking.Access != Admin {
		return asking.refuse(Forbidden)
	}
	return nil
}

// CheckEffect returns nil if the request may turn a key from before into after. Otherwise it returns an Error with the code
// OwnKey: no key can end or lower itself, and one administrator's key without an end must remain usable. The argument
// remaining is how many of these keys there are after the change.
func (r KeyRequest) CheckEffect(before, after Key, remaining int) error {
	weaker := after.RevokedAt != before.RevokedAt || after.RotatedAt != before.RotatedAt ||
		after.Access != before.Access || !after.ExpiresAt.IsZero() && after.ExpiresAt != before.ExpiresAt
	switch {
	case r.By == "" || !weaker:
		return nil
	case r.By == before.ID:
		return before.refuse(OwnKey)
	case before.isPermanentAdmin() && remaining == 0:
		return &Error{Code: OwnKey, Key: &before, LastAdmin: true}
	}
	return nil
}

func (k Key) isPermanentAdmin() bool {
	return k.Access == Admin && k.RevokedAt.IsZero() && k.ExpiresAt.IsZero()
}

// KeyChange says what to change about a key. A nil field changes nothing.
type KeyChange struct {
	Plan              *Plan
	PerMinute, PerDay *int64
	Access            *Access
	Name              *string
	// Lifetime is the new lifetime, counted from the time of the change.
	Lifetime *time.Duration
	// ExpiresAt is when the key ends, in place of a Lifetime. The zero time means never.
	ExpiresAt *time.Time
}

// MaxKeyNameLength is the greatest number of code points in the name that a client gives a key.
const MaxKeyNameLength = 100

// CheckKeyName returns what is wrong with the name that a client gives a key, or "".
func CheckKeyName(name string) (problem string) { return CheckText(name, MaxKeyNameLength) }

// CheckPlan returns what is wrong with a plan, or "".
func CheckPlan(plan Plan) (problem string) {
	if !slices.Contains(Plans, plan) {
		return "must be one of " + listed(Plans)
	}
	return ""
}

// CheckLimit returns what is wrong with a limit of an Enterprise key, or "".
func CheckLimit(limit int64) (problem string) {
	if limit < 1 || limit > MaxLimit {
		return fmt.Sprintf("must be a whole number from 1 to %d", int64(MaxLimit))
	}
	return ""
}

// CheckAccess returns what is wrong with an access, or "".
func CheckAccess(access Access) (problem string) {
	if !slices.Contains(Accesses, access) {
		return "must be one of " + listed(Accesses)
	}
	return ""
}

// CheckEnd returns what is wrong with the time at which a key is to end, or "".
func CheckEnd(end, now time.Time) (problem string) {
	switch {
	case end.Sub(now) < time.Millisecond:
		return "must be in the future"
	case end.UTC().Year() > 9999:
		return "must be before the year 10000"
	}
	return ""
}

func listed[T ~string](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return strings.Join(texts, ", ")
}

// NewKey returns a new key for a new owner, with the properties that a valid change names. A key that the change says
// nothing about has the Free plan, may read and write, and has no end. NewKey returns an Error with the code MissingField
// if there is no name, or InvalidField if the plan does not allow these limits.
func (c KeyChange) NewKey(now time.Time) (Key, error) {
	if c.Name == nil {
		var faults Faults
		faults.AddMissing("name")
		return Key{}, faults.Err()
	}
	return NewKey(*c.Name, Free, published[Free], now, Forever).Change(c, now)
}

// OfOwner reports whether the change concerns the plan or its limits. Plan and limits belong to the owner, so they change
// for all keys of the owner.
func (c KeyChange) OfOwner() bool {
	return c.Plan != nil || c.PerMinute != nil || c.PerDay != nil
}

// Change returns the key after the change. It returns an Error with the code KeyRevoked if the key is revoked, or with the
// code InvalidField if the plan does not allow these limits. If the change leaves out a limit, an Enterprise key keeps that
// limit.
func (k Key) Change(c KeyChange, now time.Time) (Key, error) {
	if !k.RevokedAt.IsZero() {
		return Key{}, k.refuse(KeyRevoked)
	}
	if c.OfOwner() {
		plan, asked := valueOr(c.Plan, k.Plan), Limits{}
		if plan == Enterprise && k.Plan == Enterprise {
			asked = k.Limits
		}
		asked = Limits{valueOr(c.PerMinute, asked.PerMinute), valueOr(c.PerDay, asked.PerDay)}
		limits, err := plan.Limits(asked.PerMinute, asked.PerDay)
		if err != nil {
			return Key{}, Faults{{Problem: limitsProblem(plan, asked)}}.Err()
		}
		k.Plan, k.Limits = plan, limits
	}
	k.Access, k.Name = valueOr(c.Access, k.Access), valueOr(c.Name, k.Name)
	switch {
	case c.Lifetime != nil:
		k.Lifetime, k.ExpiresAt = *c.Lifetime, expiry(now, *c.Lifetime)
	case c.ExpiresAt != nil && c.ExpiresAt.IsZero():
		k.Lifetime, k.ExpiresAt = Forever, time.Time{}
	case c.ExpiresAt != nil:
		end := c.ExpiresAt.UTC().Truncate(time.Millisecond)
		k.Lifetime, k.ExpiresAt = end.Sub(now).Truncate(time.Millisecond), end
	}
	return k, nil
}

// limitsProblem says why a plan does not allow these limits, in the words of the API.
func limitsProblem(plan Plan, asked Limits) string {
	switch {
	case plan != Enterprise:
		return "perMinute and perDay can be given only with the plan enterprise"
	case asked.PerMinute == 0 || asked.PerDay == 0:
		return "perMinute and perDay must both be given with the plan enterprise"
	}
	for name, limit := range map[string]int64{"perMinute ": asked.PerMinute, "perDay ": asked.PerDay} {
		if problem := CheckLimit(limit); problem != "" {
			return name + problem
		}
	}
	return "perDay must not be less than the requests per minute"
}

func valueOr[T any](given *T, otherwise T) T {
	if given != nil {
		return *given
	}
	return otherwise
}

// Revoke returns the key after its revocation. A key that was revoked before stays as it is.
func (k Key) Revoke(now time.Time) Key {
	if k.RevokedAt.IsZero() {
		k.RevokedAt = now
	}
	return k
}

// Rotation says how to replace a key.
type Rotation struct {
	// Overlap is how long the old key keeps working.
	Overlap time.Duration
	// KeepLifetime gives the new key the lifetime of the old one. Otherwise the new key has no end.
	KeepLifetime bool
}

// MaxOverlap is the longest overlap that a client may ask for.
const MaxOverlap = 30 * 24 * time.Hour

// CheckOverlap returns what is wrong with the seconds of an overlap, or "".
func CheckOverlap(seconds int64) (problem string) {
	if most := int64(MaxOverlap / time.Second); seconds < 0 || seconds > most {
		return fmt.Sprintf("must be a whole number from 0 to %d", most)
	}
	return ""
}

// Rotate returns the key as it is after a rotation, and its successor, which has the same owner, name, plan, limits and
// access. A rotation never lets the old key live longer. If the key has ended, Rotate returns an Error with the code
// KeyRevoked.
func (k Key) Rotate(r Rotation, now time.Time) (retired, successor Key, err error) {
	if k.ended(now) {
		return Key{}, Key{}, k.refuse(KeyRevoked)
	}
	successor = k
	successor.ID, successor.RotatedAt, successor.LastUsedAt = newKeyID(), time.Time{}, time.Time{}
	if !r.KeepLifetime {
		successor.Lifetime = Forever
	}
	retired = k
	retired.RotatedAt, retired.ExpiresAt = now, earlier(k.ExpiresAt, now.Add(r.Overlap))
	return retired, successor.startingAt(now, successor.Lifetime), nil
}

// ShownSecret returns the refusal to show the secret of a key again, because the same request has already made the key.
func ShownSecret(id string) *Error { return &Error{Code: SecretShown, Key: &Key{ID: id}} }
