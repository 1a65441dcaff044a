package petstore

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Environment is either production or staging. A database, its keys and its servers belong to one environment.
type Environment string

// The environments.
const (
	Production Environment = "production"
	Staging    Environment = "staging"
)

// Other returns the other environment.
func (e Environment) Other() Environment {
	if e == Staging {
		return Production
	}
	return Staging
}

func (e Environment) prefix() string {
	if e == Staging {
		return "pets_test_"
	}
	return "pets_live_"
}

const (
	base62         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	secretBytes    = 20 // 160 bits
	secretDigits   = 27 // 160 bits in base62
	checksumDigits = 6  // 32 bits in base62
)

// NewSecret generates the secret of an API key: the prefix of the environment, 160 random bits and a checksum over both, in
// base62.
func NewSecret(env Environment) string {
	var random [secretBytes]byte
	rand.Read(random[:])
	body := env.prefix() + inBase62(new(big.Int).SetBytes(random[:]), secretDigits)
	return body + checksum(body)
}

// CheckSecret returns nil if a token has the form of an API key for this environment. Otherwise it returns an Error with the
// code Unauthorized. It does not check whether the key exists.
func CheckSecret(env Environment, token string) error {
	switch {
	case wellFormed(env, token):
		return nil
	case wellFormed(env.Other(), token):
		return &Error{Code: Unauthorized, Environment: env.Other()}
	}
	return malformedSecret
}

var malformedSecret = &Error{Code: Unauthorized}

func wellFormed(env Environment, token string) bool {
	prefix := env.prefix()
	if len(token) != len(prefix)+secretDigits+checksumDigits || !strings.HasPrefix(token, prefix) {
		return false
	}
	body, sum := token[:len(token)-checksumDigits], token[len(token)-checksumDigits:]
	return strings.Trim(body[len(prefix):], base62) == "" && checksum(body) == sum
}

func checksum(body string) string {
	return inBase62(big.NewInt(int64(crc32.ChecksumIEEE([]byte(body)))), checksumDigits)
}

func inBase62(n *big.Int, width int) string {
	digits := make([]byte, width)
	radix, digit := big.NewInt(int64(len(base62))), new(big.Int)
	for i := width - 1; i >= 0; i-- {
		n.DivMod(n, radix, digit)
		digits[i] = base62[digit.Int64()]
	}
	return string(digits)
}

var anySecret = regexp.MustCompile(`(pets_(?:live|test)_)[0-9A-Za-z]+`)

// Redact removes API keys from a text that other people may read. It recognizes keys by their form, so it does not find a
// key that an operator chose.
func Redact(text string) string {
	if !strings.Contains(text, "pets_") {
		return text
	}
	return anySecret.ReplaceAllString(text, "$1…")
}

// CheckNamedSecret returns nil if an operator may choose this token as an API key. The token must be a bearer token of 16 to
// 128 characters.
func CheckNamedSecret(token string) error {
	if len(token) < 16 || len(token) > 128 || !IsBearerToken(token) {
		return fmt.Errorf("an API key of your own choice is 16 to 128 letters, digits and -._~+/ (with = only at its end)")
	}
	return nil
}

// IsBearerToken reports whether s has the syntax of a bearer token, as RFC 6750 defines it.
func IsBearerToken(s string) bool {
	body := strings.TrimRight(s, "=")
	return body != "" && strings.Trim(body, base62+"-._~+/") == ""
}

// SecretHash is the only form in which an API key is stored.
type SecretHash [sha256.Size]byte

// HashSecret returns the hash under which an API key is stored and looked up.
func HashSecret(token string) SecretHash {
	var room [128]byte // large enough for any key, so that hashing a key does not allocate memory
	return sha256.Sum256(append(room[:0], token...))
}

// Access says what a key may do.
type Access string

// What a key may do. Each level includes the levels before it.
const (
	ReadOnly  Access = "read"
	ReadWrite Access = "write"
	Admin     Access = "admin" // also changes keys
)

// Accesses has every Access, from the lowest to the highest.
var Accesses = []Access{ReadOnly, ReadWrite, Admin}

// Includes reports whether a key with access a may do what needs the given access. Every key may read.
func (a Access) Includes(needed Access) bool {
	return slices.Index(Accesses, a) >= slices.Index(Accesses, needed) || needed == ReadOnly
}

// Lower returns the lower of two levels. An unknown level is lower than all others.
func (a Access) Lower(b Access) Access {
	if slices.Index(Accesses, b) < slices.Index(Accesses, a) {
		return b
	}
	return a
}

// Key is what the service knows about an API key. A zero time means "never".
type Key struct {
	ID        string
	Name      string
	Owner     string
	Plan      Plan
	Limits    Limits
	Access    Access
	CreatedAt time.Time
	// Lifetime is how long the key works, counted from its creation or its last change. A rotation may end the key earlier.
	Lifetime  time.Duration
	ExpiresAt time.Time
	RevokedAt time.Time
	// RotatedAt is the time when a successor replaced the key.
	RotatedAt time.Time
	// LastUsedAt is the beginning of the hour in which the key was last used.
	LastUsedAt time.Time
	// BannedFrom and BannedUntil are the beginning and the end of the owner's latest ban. The ban may be over.
	BannedFrom, BannedUntil time.Time
}

// Forever is the lifetime of a key that does not expire.
const Forever time.Duration = 0

// NewKey returns a new key for a new owner. The owner and the key have the same id.
func NewKey(name string, plan Plan, limits Limits, now time.Time, lifetime time.Duration) Key {
	id := newKeyID()
	return Key{ID: id, Name: name, Owner: id, Plan: plan, Limits: limits, Access: ReadWrite}.startingAt(now, lifetime)
}

func (k Key) startingAt(now time.Time, lifetime time.Duration) Key {
	k.CreatedAt, k.Lifetime, k.ExpiresAt = now, lifetime, expiry(now, lifetime)
	return k
}

func expiry(from time.Time, lifetime time.Duration) time.Time {
	if lifetime == Forever {
		return time.Time{}
	}
	return from.Add(lifetime)
}

func newKeyID() string {
	var random [6]byte
	rand.Read(random[:])
	return keyIDPrefix + inBase62(new(big.Int).SetBytes(random[:]), keyIDDigits)
}

const (
	keyIDPrefix = "key_"
	keyIDDigits = 9 // 48 bits in base62
)

// CanBeKeyID reports whether s has the form of a key's id.
func CanBeKeyID(s string) bool {
	digits, ok := strings.CutPrefix(s, keyIDPrefix)
	return ok && len(digits) == keyIDDigits && strings.Trim(digits, base62) == ""
}

// Usable returns nil if the key can be used now. If the key was revoked or has expired, Usable returns an Error with the
// code Unauthorized.
func (k Key) Usable(now time.Time) error {
	if k.ended(now) {
		return k.refuse(Unauthorized)
	}
	return nil
}

// ended reports whether the key was revoked or has expired. It ignores the time in RevokedAt, because the clocks of two
// machines may differ.
func (k Key) ended(now time.Time) bool {
	return !k.RevokedAt.IsZero() || !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt)
}

func (k Key) refuse(code Code) *Error { return &Error{Code: code, Key: &k} }

// Banned reports whether the key's owner is banned now.
func (k Key) Banned(now time.Time) bool {
	return Ban{Start: k.BannedFrom, Until: k.BannedUntil}.InForce(now)
}

// NoSuchKey returns the refusal of an id that no key has.
func NoSuchKey(id string) *Error { return &Error{Code: NotFound, Noun: KeyNoun, Key: &Key{ID: id}} }

// NoSuchSecret returns the refusal of a hash that no key has.
func NoSuchSecret() *Error { return noSuchSecret }

var noSuchSecret = &Error{Code: NotFound, Noun: KeyNoun}

// AlreadyRotated returns the refusal to rotate a key that already has a successor.
func AlreadyRotated(key Key, successor string) *Error {
	return &Error{Code: KeyRevoked, Key: &key, Successor: successor}
}
