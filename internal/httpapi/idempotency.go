package httpapi

import (
	"crypto/sha256"
	"net/http"

	"petstore/internal/petstore"
)

// idempotencyOf reads the Idempotency-Key header. It returns nil if the request has no such header.
func idempotencyOf(x *exchange) (*petstore.Idempotency, error) {
	keys := x.r.Header["Idempotency-Key"]
	if len(keys) == 0 {
		return nil, nil
	}
	if len(keys) > 1 || !isPrintable(keys[0]) || len(keys[0]) < 1 || len(keys[0]) > 255 {
		return nil, newRefusal(invalidParameter, "Idempotency-Key must be given once, with 1 to 255 printable ASCII characters.")
	}
	return &petstore.Idempotency{Owner: x.key.Owner, Key: keys[0], Fingerprint: fingerprint(x)}, nil
}

// fingerprint returns a hash of the operation, the ids in its path and the bytes of the body. An id can be written in one way
// only. For createPet it is a hash of the body alone, as in records from the time when nothing else could be created. The two
// kinds of hashes cannot collide, because no valid body begins with the name of an operation.
func fingerprint(x *exchange) [sha256.Size]byte {
	if x.operation.name == "createPet" {
		return sha256.Sum256(x.body)
	}
	text := append([]byte(x.operation.name), ' ')
	for _, id := range x.parameters[:len(x.resource.parameters)] {
		text = append(append(text, id...), ' ')
	}
	return sha256.Sum256(append(text, x.body...))
}

func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// markReplayed tells the client that the request changed nothing, because its Idempotency-Key was used before. The client
// gets the answer to the earlier request.
func (x *exchange) markReplayed(replayed bool) {
	if replayed {
		x.set("Idempotency-Replayed", "true")
	}
}

// respondCreated prepares the answer to a create.
func (x *exchange) respondCreated(location, body string) error {
	x.set("Location", location)
	return x.respond(http.StatusCreated, body)
}
