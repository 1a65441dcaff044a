package httpapi

import (
	"net/http"
	"time"
)

// The time when getPet was deprecated, in the format of RFC 9745, and the time when it will be removed, in the format of RFC
// 8594.
var (
	sunsetTime  = time.Date(2030, time.December, 5, 0, 0, 0, 0, time.UTC)
	deprecation = "@1794700800"
	sunset      = sunsetTime.Format(http.TimeFormat)
)

func (x *exchange) isDeprecated() bool { return x.operation != nil && x.operation.deprecated }

// setDeprecationHeaders sets the headers about the deprecation of an operation: since when it is deprecated, when it ends,
// and which operation replaces it.
func (a *API) setDeprecationHeaders(x *exchange) {
	x.set("Deprecation", deprecation)
	x.set("Sunset", sunset)
	x.set("Link", a.links.deprecated)
}

// refuseAfterSunset refuses a deprecated operation after its sunset, unless the operator has chosen to keep the operation.
func (a *API) refuseAfterSunset(x *exchange) error {
	if !x.isDeprecated() || a.KeepDeprecated || x.start.Before(sunsetTime) {
		return nil
	}
	return newRefusal(gone, "Reading one animal was removed on 5 December 2030. List animals with GET /v1/pets and its status filter instead.")
}
