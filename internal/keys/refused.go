package keys

import (
	"errors"
	"fmt"

	"petstore/internal/petstore"
	"petstore/internal/terminal"
)

// keyRefused turns a refusal into a message for the command line: why a key was not changed, rotated, revoked or unbanned.
// It returns other errors unchanged.
func keyRefused(err error) error {
	refused, ok := errors.AsType[*petstore.Error](err)
	switch {
	case !ok:
		return err
	case refused.Code == petstore.InvalidField:
		return terminal.WrongUsage("%s", refused.Faults)
	case refused.Key == nil:
		return err
	case refused.Code == petstore.NotFound:
		return fmt.Errorf("there is no key %s; petstore keys list shows those there are", refused.Key.ID)
	case refused.Code != petstore.KeyRevoked:
		return err
	case refused.Successor != "":
		return fmt.Errorf("key %s was rotated already, and key %s is its successor; petstore keys list shows both", refused.Key.ID, refused.Successor)
	case !refused.Key.RevokedAt.IsZero():
		return fmt.Errorf("key %s is revoked for good and cannot be changed; create another with petstore keys create", refused.Key.ID)
	}
	return fmt.Errorf("key %s has expired and cannot be rotated; create another with petstore keys create", refused.Key.ID)
}
