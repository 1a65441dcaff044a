// Package webhook signs the deliveries of webhooks, and verifies them for a receiver. The signatures are those of Standard
// Webhooks, https://www.standardwebhooks.com. The package needs nothing but the standard library.
//
//	func receive(w http.ResponseWriter, r *http.Request) {
//		body, err := webhook.Read(r, secret)
//		if err != nil {
//			http.Error(w, err.Error(), http.StatusUnauthorized)
//			return
//		}
//		… // The event in body comes from the service.
//	}
//
// Do not answer 400, 409, 413 or 422 to a delivery that cannot be verified: the service takes these for a refusal of the event
// itself, and skips the event after five of them.
//
// The service delivers an event at least once. A receiver that must not handle an event twice remembers the id of the last
// event, which is in the header webhook-id.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of a delivery.
const (
	IDHeader        = "Webhook-Id"
	TimestampHeader = "Webhook-Timestamp"
	SignatureHeader = "Webhook-Signature"
)

const (
	// Tolerance is how far the time of a delivery may be from the clock of the receiver.
	Tolerance = 5 * time.Minute
	// MaxBody is the size of the largest body that Read accepts, in bytes.
	MaxBody = 1 << 20
)

// The errors of Verify and Read. The message of an error that wraps one of them says more.
var (
	ErrSecret    = errors.New("the secret of the webhook is malformed")
	ErrHeader    = errors.New("the request is not a signed delivery")
	ErrTimestamp = errors.New("the delivery was signed too long ago or in the future")
	ErrSignature = errors.New("no signature of the delivery is right")
	ErrTooLarge  = fmt.Errorf("the delivery is larger than %d bytes", MaxBody)
)

const (
	secretPrefix = "whsec_"
	version      = "v1"
)

// CheckSecret returns an error that wraps ErrSecret if a secret is malformed.
func CheckSecret(secret string) error {
	_, err := NewSigner(secret)
	return err
}

// Signer signs deliveries by one secret, and does what does not depend on the delivery only once. It is for one goroutine.
type Signer struct{ mac hash.Hash }

// NewSigner returns a Signer, or an error that wraps ErrSecret if the secret is malformed.
func NewSigner(secret string) (*Signer, error) {
	encoded, ok := strings.CutPrefix(secret, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(key) == 0 {
		return nil, fmt.Errorf("%w: it must be %s and a key in base64", ErrSecret, secretPrefix)
	}
	return &Signer{hmac.New(sha256.New, key)}, nil
}

// Sign returns the signature of a delivery: the value of SignatureHeader. Several signatures of one delivery are separated by
// spaces.
func (s *Signer) Sign(id string, at time.Time, body []byte) string {
	return version + "," + base64.StdEncoding.EncodeToString(s.sum(id, strconv.FormatInt(at.Unix(), 10), body))
}

func (s *Signer) sum(id, timestamp string, body []byte) []byte {
	s.mac.Reset()
	s.mac.Write([]byte(id + "." + timestamp + "."))
	s.mac.Write(body)
	return s.mac.Sum(nil)
}

// Sign returns the signature of a delivery as a Signer does. It returns "" if the secret is malformed; see CheckSecret.
func Sign(secret, id string, at time.Time, body []byte) string {
	s, err := NewSigner(secret)
	if err != nil {
		return ""
	}
	return s.Sign(id, at, body)
}

// Read reads the body of a delivery and verifies it. It reads at most MaxBody bytes, and returns ErrTooLarge if there are
// more.
func Read(r *http.Request, secrets ...string) (body []byte, err error) {
	body, err = io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the delivery: %w", err)
	case len(body) > MaxBody:
		return nil, ErrTooLarge
	}
	if err := Verify(r.Header, body, secrets...); err != nil {
		return nil, err
	}
	return body, nil
}

// Verify returns nil if the headers have a signature of the body by any of the secrets, and the time of the delivery is within
// Tolerance. The body must be the exact bytes that were received.
func Verify(header http.Header, body []byte, secrets ...string) error {
	return verify(time.Now(), header, body, secrets)
}

func verify(now time.Time, header http.Header, body []byte, secrets []string) error {
	signers := make([]*Signer, len(secrets))
	for i, secret := range secrets {
		signer, err := NewSigner(secret)
		if err != nil {
			return err
		}
		signers[i] = signer
	}
	if len(signers) == 0 {
		return fmt.Errorf("%w: there is none", ErrSecret)
	}
	for _, name := range []string{IDHeader, TimestampHeader, SignatureHeader} {
		if header.Get(name) == "" {
			return fmt.Errorf("%w: it has no header %s", ErrHeader, strings.ToLower(name))
		}
	}
	timestamp := header.Get(TimestampHeader)
	if err := checkTimestamp(now, timestamp); err != nil {
		return err
	}
	return checkSignatures(header.Get(SignatureHeader), func(signature []byte) bool {
		for _, signer := range signers {
			if hmac.Equal(signature, signer.sum(header.Get(IDHeader), timestamp, body)) {
				return true
			}
		}
		return false
	})
}

func checkTimestamp(now time.Time, timestamp string) error {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return fmt.Errorf("%w: the header %s must be a number of seconds", ErrHeader, strings.ToLower(TimestampHeader))
	}
	switch age := now.Sub(time.Unix(seconds, 0)); {
	case age > Tolerance:
		return fmt.Errorf("%w: it is %s old; more than %s is refused", ErrTimestamp, age.Round(time.Second), Tolerance)
	case age < -Tolerance:
		return fmt.Errorf("%w: it is %s ahead of this clock; more than %s is refused", ErrTimestamp, (-age).Round(time.Second), Tolerance)
	}
	return nil
}

// checkSignatures returns nil if one of the signatures, which are separated by spaces, is right. It ignores signatures of
// other versions.
func checkSignatures(signatures string, isRight func([]byte) bool) error {
	known := false
	for field := range strings.FieldsSeq(signatures) {
		encoded, ok := strings.CutPrefix(field, version+",")
		signature, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil {
			continue
		}
		if known = true; isRight(signature) {
			return nil
		}
	}
	if !known {
		return fmt.Errorf("%w: the header %s has no signature of version %s", ErrHeader, strings.ToLower(SignatureHeader), version)
	}
	return fmt.Errorf("%w: the secret is another one, or the body or the headers were changed on the way", ErrSignature)
}
