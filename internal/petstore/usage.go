package petstore

import "time"

// UsageKept is how long the usage of an owner is kept.
const UsageKept = 31 * 24 * time.Hour

// Usage counts the requests of an owner in one hour.
type Usage struct {
	// Hour is the beginning of the hour, in UTC.
	Hour time.Time
	// Refused counts the requests that a rate limit or a ban refused, and Passed counts all others.
	Passed, Refused int64
}

// OwnerUsage is the usage of one owner.
type OwnerUsage struct {
	Owner string
	Usage
}
