package petstore

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"
)

// Source is the storage that a copy reads from. Every storage returns records in the same order.
type Source interface {
	// ListPets returns at most q.Limit animals, newest first.
	ListPets(ctx context.Context, q PetQuery) ([]Pet, error)
	// Inventory counts the animals of each status.
	Inventory(ctx context.Context) (Inventory, error)
	// ListCategories returns at most q.Limit categories, ordered by id.
	ListCategories(ctx context.Context, q CategoryQuery) ([]Category, error)
	// StoredOrders returns at most limit orders that follow the given order, exactly as they are stored, ordered by id.
	StoredOrders(ctx context.Context, after Order, limit int) ([]Order, error)
	// StoredProfiles returns at most limit profiles after the given one, ordered by the id of the animal.
	StoredProfiles(ctx context.Context, after StoredProfile, limit int) ([]StoredProfile, error)
	// StoredPhotos returns at most limit photos after the given one, ordered by id.
	StoredPhotos(ctx context.Context, after StoredPhoto, limit int) ([]StoredPhoto, error)
	// PhotoFile returns a file of the photo with that token, or an Error with the code NotFound.
	PhotoFile(ctx context.Context, token string, size PhotoSize) ([]byte, error)
	// StoredKeys returns at most limit keys after the given one, ordered by hash.
	StoredKeys(ctx context.Context, after StoredKey, limit int) ([]StoredKey, error)
	// StoredIdempotency returns at most limit idempotency records that follow the given record, ordered by time, owner and
	// key.
	StoredIdempotency(ctx context.Context, after StoredIdempotency, limit int) ([]StoredIdempotency, error)
	// StoredUsage returns at most limit records of usage after the given one, ordered by hour and owner.
	StoredUsage(ctx context.Context, after OwnerUsage, limit int) ([]OwnerUsage, error)
	// Feed says which events there are.
	Feed(ctx context.Context) (Feed, error)
	// StoredEvents returns at most limit records of events after the given one, ordered by First.
	StoredEvents(ctx context.Context, after StoredEvents, limit int) ([]StoredEvents, error)
	// ListWebhooks returns at most q.Limit webhooks, newest first.
	ListWebhooks(ctx context.Context, q WebhookQuery) ([]Webhook, error)
	// Counters returns the highest ids ever assigned.
	Counters(ctx context.Context) (Counters, error)
}

// Target is the storage that a copy writes to. Each Replace method and RaiseCounters run in one transaction. They return
// ErrServed if a server has already served requests from the storage.
type Target interface {
	Source

	// ReplacePets stores new versions of animals under their own ids, and removes old animals. Every animal created later
	// gets a higher id.
	ReplacePets(ctx context.Context, newer, old []Pet) error
	// ReplaceCategories stores new versions of categories, and removes old categories. It overwrites stored categories that
	// have the same id or name.
	ReplaceCategories(ctx context.Context, newer, old []Category) error
	// ReplaceOrders stores new versions of orders one by one, under their own ids, and removes old orders. An open order
	// replaces the stored order that holds the same animal. Animals do not change.
	ReplaceOrders(ctx context.Context, newer, old []Order) error
	// ReplaceProfiles stores new versions of profiles, except those of animals that do not exist, and removes old profiles.
	ReplaceProfiles(ctx context.Context, newer, old []StoredProfile) error
	// PutPhoto stores a photo with its files under its own id, unless its animal does not exist. It replaces a stored photo
	// with the same id.
	PutPhoto(ctx context.Context, photo StoredPhoto, large, small []byte) error
	// RemovePhotos removes photos.
	RemovePhotos(ctx context.Context, old []StoredPhoto) error
	// ReplaceKeys stores keys with their hashes and bans. If the target already has a key, ReplaceKeys stores the Stricter
	// combination of the two versions.
	ReplaceKeys(ctx context.Context, newer []StoredKey) error
	// ReplaceIdempotency stores new versions of idempotency records, and removes old records.
	ReplaceIdempotency(ctx context.Context, newer, old []StoredIdempotency) error
	// ReplaceUsage stores new versions of usage, and removes old usage.
	ReplaceUsage(ctx context.Context, newer, old []OwnerUsage) error
	// ReplaceEvents stores new versions of records of events, and removes old records. A new version takes the place of every
	// record with which it has events in common.
	ReplaceEvents(ctx context.Context, newer, old []StoredEvents) error
	// ReplaceFeed stores the name of the feed and which events were trimmed. No other method of Target adds events.
	ReplaceFeed(ctx context.Context, feed Feed) error
	// ReplaceWebhooks stores these webhooks in place of all that there are. Those that stay keep their deliveries.
	ReplaceWebhooks(ctx context.Context, webhooks []Webhook) error
	// RaiseCounters ensures that every new record gets an id above the given ids.
	RaiseCounters(ctx context.Context, to Counters) error
}

// ErrServed is the refusal to copy into a storage from which a server has already served requests.
var ErrServed = &Error{Code: AlreadyServed}

// Counters holds the highest ids ever assigned, including the ids of deleted records. Zero means that no id was assigned.
type Counters struct {
	Pet, Order, Category, Photo int64
}

// StoredKey is a key as the storage keeps it, with its hash and its ban.
type StoredKey struct {
	Key
	Hash SecretHash
	Ban  Ban
}

// Stricter combines two versions of a key. It takes the earlier revocation and expiry, the lower access and the longer
// ban.
func (k StoredKey) Stricter(other StoredKey) StoredKey {
	k.RevokedAt = earlier(k.RevokedAt, other.RevokedAt)
	k.ExpiresAt = earlier(k.ExpiresAt, other.ExpiresAt)
	k.RotatedAt = earlier(k.RotatedAt, other.RotatedAt)
	k.LastUsedAt = later(k.LastUsedAt, other.LastUsedAt)
	k.Access = k.Access.Lower(other.Access)
	k.Ban = Ban{later(k.Ban.Start, other.Ban.Start), later(k.Ban.Until, other.Ban.Until), max(k.Ban.Streak, other.Ban.Streak)}
	k.BannedFrom, k.BannedUntil = k.Ban.Start, k.Ban.Until
	return k
}

// earlier returns the earlier of two times. A zero time means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// StoredProfile is a profile as it is stored.
type StoredProfile struct {
	PetID int64
	Facts
	// Cover is the id of the photo that was made the cover, or zero. It may have been deleted since.
	Cover int64
}

// StoredPhoto is a photo as it is stored, without its files.
type StoredPhoto struct {
	PetID int64
	Photo
}

// StoredIdempotency is an idempotency record as it is stored.
type StoredIdempotency struct {
	Owner       string
	Key         string
	Fingerprint [32]byte
	Answer      string
	MadeAt      time.Time
}

// StoredEvents is a record of events as it is stored: events with the same time that follow one another.
type StoredEvents struct {
	// First is the sequence of the first event.
	First int64
	// Count is the number of events.
	Count  int64
	At     time.Time
	Record string
}

// Copy makes the content of to equal to that of from, and returns what it changed. Keys that exist only in the target
// stay there. Copy calls progress with the number of animals compared so far and with the total, and then with the number of
// photos and a total of zero, because nobody has counted them. It copies the animals after the idempotency records, so that
// the record of an animal created during the copy never arrives without the animal, and profiles and photos after the
// animals that they belong to. It reads the webhooks before the events, so that no webhook is past the events that are
// copied. The deliveries of webhooks are not copied.
func Copy(ctx context.Context, from Source, to Target, progress func(kind string, done, total int64)) ([]Tally, error) {
	counters, err := from.Counters(ctx)
	if err != nil {
		return nil, fmt.Errorf("the highest ids could not be read: %w", err)
	}
	if err := to.RaiseCounters(ctx, counters); err != nil {
		return nil, fmt.Errorf("the highest ids could not be stored: %w", err)
	}
	inventory, err := from.Inventory(ctx)
	if err != nil {
		return nil, fmt.Errorf("the animals could not be counted: %w", err)
	}
	total := inventory.Available + inventory.Pending + inventory.Sold
	webhooks, err := allWebhooks(ctx, from)
	if err != nil {
		return nil, fmt.Errorf("the webhooks could not be read: %w", err)
	}
	ignore := func(int64) {}
	kinds := []func() (Tally, error){
		func() (Tally, error) { return storedKeys.copyRecords(ctx, from, to, ignore) },
		func() (Tally, error) { return storedIdempotency.copyRecords(ctx, from, to, ignore) },
		func() (Tally, error) { return storedCategories.copyRecords(ctx, from, to, ignore) },
		func() (Tally, error) { return storedOrders.copyRecords(ctx, from, to, ignore) },
		func() (Tally, error) {
			return storedPets.copyRecords(ctx, from, to, func(done int64) { progress(storedPets.name, done, max(done, total)) })
		},
		func() (Tally, error) { return storedProfiles.copyRecords(ctx, from, to, ignore) },
		func() (Tally, error) {
			photos := storedPhotos(from)
			return photos.copyRecords(ctx, from, to, func(done int64) { progress(photos.name, done, 0) })
		},
		func() (Tally, error) { return storedUsage.copyRecords(ctx, from, to, ignore) },
		func() (Tally, error) { return copyFeed(ctx, from, to) },
		func() (Tally, error) { return copyWebhooks(ctx, webhooks, to) },
	}
	var tallies []Tally
	for _, copyKind := range kinds {
		tally, err := copyKind()
		if err != nil {
			return tallies, fmt.Errorf("the %s could not be copied: %w", tally.Kind, err)
		}
		tallies = append(tallies, tally)
	}
	return tallies, nil
}

var storedKeys = kind[StoredKey]{
	name:      "keys",
	stored:    Source.StoredKeys,
	order:     func(a, b StoredKey) int { return bytes.Compare(a.Hash[:], b.Hash[:]) },
	merge:     StoredKey.Stricter,
	keepExtra: true,
	replace:   func(to Target, ctx context.Context, put, _ []StoredKey) error { return to.ReplaceKeys(ctx, put) },
}

var storedIdempotency = kind[StoredIdempotency]{
	name:   "idempotency records",
	stored: Source.StoredIdempotency,
	order: func(a, b StoredIdempotency) int {
		return cmp.Or(a.MadeAt.Compare(b.MadeAt), cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Key, b.Key))
	},
	replace: Target.ReplaceIdempotency,
}

var storedUsage = kind[OwnerUsage]{
	name:    "hours of usage",
	stored:  Source.StoredUsage,
	order:   func(a, b OwnerUsage) int { return cmp.Or(a.Hour.Compare(b.Hour), cmp.Compare(a.Owner, b.Owner)) },
	replace: Target.ReplaceUsage,
}

// storedEvents are read and stored in small steps, because each record may have thousands of events.
var storedEvents = kind[StoredEvents]{
	name:    "records of events",
	step:    copyStep / 10,
	stored:  Source.StoredEvents,
	order:   func(a, b StoredEvents) int { return cmp.Compare(a.First, b.First) },
	replace: Target.ReplaceEvents,
}

// copyFeed copies the events and then the name of their feed. A target that has the name has all events that the source had
// when the copy began.
func copyFeed(ctx context.Context, from Source, to Target) (Tally, error) {
	feed, err := from.Feed(ctx)
	if err != nil {
		return Tally{Kind: storedEvents.name}, err
	}
	tally, err := storedEvents.copyRecords(ctx, feedUntil{from, feed.Last}, to, func(int64) {})
	if err == nil {
		feed, err = from.Feed(ctx) // it may have trimmed some meanwhile
	}
	if err != nil {
		return tally, err
	}
	return tally, to.ReplaceFeed(ctx, feed)
}

// feedUntil is a source without most of the events after the last one. Otherwise a copy from a source that gets events faster
// than the target stores them would never end.
type feedUntil struct {
	Source
	last int64
}

func (s feedUntil) StoredEvents(ctx context.Context, after StoredEvents, limit int) ([]StoredEvents, error) {
	if after.First+after.Count > s.last {
		return nil, nil
	}
	return s.Source.StoredEvents(ctx, after, limit)
}

// allWebhooks returns every webhook, newest first, without what is counted.
func allWebhooks(ctx context.Context, s Source) ([]Webhook, error) {
	webhooks, err := s.ListWebhooks(ctx, WebhookQuery{Limit: MaxWebhooks})
	for i := range webhooks {
		webhooks[i].Behind = 0
	}
	return webhooks, err
}

// copyWebhooks replaces the webhooks of the target, unless they are the same.
func copyWebhooks(ctx context.Context, webhooks []Webhook, to Target) (Tally, error) {
	tally := Tally{Kind: "webhooks"}
	there, err := allWebhooks(ctx, to)
	if err != nil {
		return tally, err
	}
	for _, w := range webhooks {
		switch i := slices.IndexFunc(there, func(other Webhook) bool { return other.ID == w.ID }); {
		case i < 0:
			tally.Added++
		case !reflect.DeepEqual(there[i], w):
			tally.Changed++
		}
	}
	tally.Removed = int64(len(there)) - (int64(len(webhooks)) - tally.Added)
	if tally.Added+tally.Changed+tally.Removed == 0 {
		return tally, nil
	}
	return tally, to.ReplaceWebhooks(ctx, webhooks)
}

var storedCategories = kind[Category]{
	name: "categories",
	stored: func(s Source, ctx context.Context, after Category, limit int) ([]Category, error) {
		switch {
		case after == Category{}: // zero only at the beginning, because every category has a name
			return s.ListCategories(ctx, CategoryQuery{From: math.MinInt64, Limit: limit})
		case after.ID == math.MaxInt64:
			return nil, nil
		}
		return s.ListCategories(ctx, CategoryQuery{From: after.ID + 1, Limit: limit})
	},
	order:   func(a, b Category) int { return cmp.Compare(a.ID, b.ID) },
	replace: Target.ReplaceCategories,
}

// storedOrders copies orders from the oldest to the newest. If two orders hold the same animal one after the other, the
// older order closes before the newer one is placed. The source may close the older order after the copy has read it as
// open. In that case, the newer order replaces it in the target.
var storedOrders = kind[Order]{
	name:    "orders",
	stored:  Source.StoredOrders,
	order:   func(a, b Order) int { return cmp.Compare(a.ID, b.ID) },
	replace: Target.ReplaceOrders,
}

var storedPets = kind[Pet]{
	name: "animals",
	stored: func(s Source, ctx context.Context, after Pet, limit int) ([]Pet, error) {
		return s.ListPets(ctx, PetQuery{Before: after.ID, Limit: limit})
	},
	order:   func(a, b Pet) int { return cmp.Compare(b.ID, a.ID) },
	replace: Target.ReplacePets,
}

// storedProfiles are read and stored in small steps, because each may have 80 kB.
var storedProfiles = kind[StoredProfile]{
	name:    "profiles",
	step:    copyStep / 10,
	stored:  Source.StoredProfiles,
	order:   func(a, b StoredProfile) int { return cmp.Compare(a.PetID, b.PetID) },
	replace: Target.ReplaceProfiles,
}

// storedPhotos are compared without their files, which never change. The files of a photo are in memory only while that
// photo is copied.
func storedPhotos(from Source) kind[StoredPhoto] {
	return kind[StoredPhoto]{
		name:   "photos",
		step:   copyStep / 10,
		stored: Source.StoredPhotos,
		order:  func(a, b StoredPhoto) int { return cmp.Compare(a.ID, b.ID) },
		replace: func(to Target, ctx context.Context, put, remove []StoredPhoto) error {
			if len(remove) > 0 {
				if err := to.RemovePhotos(ctx, remove); err != nil {
					return err
				}
			}
			for _, photo := range put {
				if err := copyPhoto(ctx, from, to, photo); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// copyPhoto copies a photo with its files, unless the source has deleted it meanwhile.
func copyPhoto(ctx context.Context, from Source, to Target, photo StoredPhoto) error {
	large, err := from.PhotoFile(ctx, photo.Token, LargePhoto)
	if err == nil {
		var small []byte
		if small, err = from.PhotoFile(ctx, photo.Token, SmallPhoto); err == nil {
			return to.PutPhoto(ctx, photo, large, small)
		}
	}
	if IsCode(err, NotFound) {
		return nil
	}
	return err
}
