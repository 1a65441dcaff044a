package keys

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"petstore/client"
	"petstore/internal/petstore"
	"petstore/internal/terminal"
)

// find returns the key that a person names by its id or by its name. Of several keys with the name, it returns the only one
// that is usable.
func find(ctx context.Context, keys keyring, text string) (client.Key, error) {
	found, err := findAll(ctx, keys, text)
	switch {
	case err != nil:
		return client.Key{}, err
	case len(found) > 1:
		return client.Key{}, ambiguous(text, found)
	}
	return found[0], nil
}

// findOwner is like find, but for a command that works on the owner of a key. It returns the newest of several keys with the
// name if all have the same owner.
func findOwner(ctx context.Context, keys keyring, text string) (client.Key, error) {
	found, err := findAll(ctx, keys, text)
	if err != nil {
		return client.Key{}, err
	}
	newest := found[len(found)-1]
	for _, key := range found {
		if key.Owner != newest.Owner {
			return client.Key{}, ambiguous(text, found)
		}
	}
	return newest, nil
}

// findAll returns the keys that a text may mean, at least one of them: the key with that id, or else the usable keys with that
// name, or else all keys with that name.
func findAll(ctx context.Context, keys keyring, text string) ([]client.Key, error) {
	if petstore.CanBeKeyID(text) {
		key, err := keys.get(ctx, text)
		return []client.Key{key}, err
	}
	all, err := keys.list(ctx, false)
	if err != nil {
		return nil, err
	}
	usable, ended := withName(all, text)
	switch {
	case len(usable) > 0:
		return usable, nil
	case len(ended) > 0:
		return ended, nil
	}
	return nil, fmt.Errorf("no key has the id or the name %q; petstore keys list shows those there are", text)
}

// withName returns the keys with a name: those that are usable, and those that have ended.
func withName(keys []client.Key, name string) (usable, ended []client.Key) {
	now := time.Now()
	for _, key := range keys {
		switch {
		case key.Name != name:
		case hasEnded(key, now):
			ended = append(ended, key)
		default:
			usable = append(usable, key)
		}
	}
	return usable, ended
}

// maxCandidates is how many keys a message names.
const maxCandidates = 10

// ambiguous returns an error that names the keys with a name.
func ambiguous(name string, keys []client.Key) error {
	return fmt.Errorf("%d keys are named %q; give the id of one: %s", len(keys), name, describeKeys(keys))
}

// describeKeys names keys with their ids and states.
func describeKeys(keys []client.Key) string {
	now := time.Now()
	var texts []string
	for _, key := range keys[:min(len(keys), maxCandidates)] {
		texts = append(texts, fmt.Sprintf("%s (created %s, %s)", key.ID, key.CreatedAt.UTC().Format(time.DateOnly), describeState(key, now)))
	}
	text := strings.Join(texts, ", ")
	if more := len(keys) - maxCandidates; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// sameNameTimeout is how long noteSameName waits for a list of all keys.
const sameNameTimeout = 5 * time.Second

// noteSameName says that other usable keys have the name of a key that was just created or renamed. It says nothing if it
// cannot find out soon, because the change was made either way.
func noteSameName(ctx context.Context, con *terminal.Console, keys keyring, key client.Key) {
	ctx, cancel := context.WithTimeout(ctx, sameNameTimeout)
	defer cancel()
	active, err := keys.list(ctx, true)
	if err != nil {
		return
	}
	usable, _ := withName(active, key.Name)
	others := slices.DeleteFunc(usable, func(other client.Key) bool { return other.ID == key.ID })
	if len(others) > 0 {
		con.Say("Note: another usable key has the name %q: %s. Commands need the ids of keys that share a name.", key.Name, describeKeys(others))
	}
}
