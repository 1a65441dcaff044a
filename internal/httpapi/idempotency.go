package httpapi

import (
	"crypto/sha256"
	"net/http"

	"petstore/internal/petstore"
)

// idempotencyOf reads the Idempotency-Key. It returns nil if there is none.
func idempotencyOf(x *exchange) (*petstore.Idempotency, error) {
	keys := x.r.Header["Idempotency-Key"]
	if len(keys) == 0 {
		return nil, nil
	}
	if len(keys) > 1 || !isPrintable(keys[0]) || len(keys[0]) < 1 || len(keys[0]) > 255 {
		return nil, refused(invalidParameter, "Idempotency-Key must be given once, with 1 to 255 printable ASCII characters.")
	}
	return &petstore.Idempotency{Owner: x.key.Owner, Key: keys[0], Fingerprint: fingerprint(x)}, nil
}

// fingerprint tells requests apart by their operation and the bytes of their body. For createPet it is a hash of the
// body only, because the records from the time when nothing else could be created hold such a hash. No valid body
// begins with the name of an operation, so the two kinds never collide.
func fingerprint(x *exchange) [sha256.Size]byte {
	if x.operation.name == "createPet" {
		return sha256.Sum256(x.body)
	}
	return sha256.Sum256(append([]byte(x.operation.name+" "), x.body...))
}

func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// respondCreated answers with what was made, either now or, if it is replayed, when the Idempotency-Key was first used.
func (x *exchange) respondCreated(location, body string, replayed bool) error {
	if replayed {
		x.set("Idempotency-Replayed", "true")
	}
	x.set("Location", location)
	return x.respond(http.StatusCreated, body)
}
