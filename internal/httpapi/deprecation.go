package httpapi

import (
	"net/http"
	"time"
)

// When getPet was deprecated and when it is removed, as RFC 9745 and RFC 8594 write these times.
var (
	sunsetTime  = time.Date(2030, time.December, 5, 0, 0, 0, 0, time.UTC)
	deprecation = "@1794700800"
	sunset      = sunsetTime.Format(http.TimeFormat)
)

func (x *exchange) isDeprecated() bool { return x.operation != nil && x.operation.deprecated }

// tellDeprecation gives the answer the headers that say since when the operation is deprecated, when it ends, and what
// takes its place.
func (a *API) tellDeprecation(x *exchange) {
	x.set("Deprecation", deprecation)
	x.set("Sunset", sunset)
	x.set("Link", a.links.deprecated)
}

// removed returns the refusal of a deprecated operation from its sunset on, unless the operator keeps it.
func (a *API) removed(x *exchange) error {
	if !x.isDeprecated() || a.KeepDeprecated || x.start.Before(sunsetTime) {
		return nil
	}
	return refused(gone, "Reading one animal was removed on 5 December 2030. List animals with GET /v1/pets and its status filter instead.")
}
