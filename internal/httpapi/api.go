// Package httpapi is the HTTP edge: it turns requests into calls of the domain's seams, and answers and refusals into
// the bytes that the published interface promises.
//
// The table of operations and the chain of steps that every request goes through are in api.go. Each step is a method of
// that name, most of them in middleware.go. An operation's own code is in the file of its noun, such as pets.go.
package httpapi

import (
	"cmp"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"petstore/internal/petstore"
)

// operations are the operations of the interface. A contract test compares them with api/openapi.yaml, both ways.
var operations = []operation{
	{name: "listPets", method: http.MethodGet, path: "/v1/pets", handle: (*API).listPets},
	{name: "createPet", method: http.MethodPost, path: "/v1/pets", handle: (*API).createPet, body: jsonBody},
	{name: "getPet", method: http.MethodGet, path: "/v1/pets/{petId}", handle: (*API).getPet, deprecated: true},
	{name: "updatePet", method: http.MethodPatch, path: "/v1/pets/{petId}", handle: (*API).updatePet, body: patchBody},
	{name: "deletePet", method: http.MethodDelete, path: "/v1/pets/{petId}", handle: (*API).deletePet},
	{name: "getInventory", method: http.MethodGet, path: "/v1/inventory", handle: (*API).getInventory},

	{name: "listCategories", method: http.MethodGet, path: "/v1/categories", handle: (*API).listCategories},
	{name: "createCategory", method: http.MethodPost, path: "/v1/categories", handle: (*API).createCategory, body: jsonBody},
	{name: "getCategory", method: http.MethodGet, path: "/v1/categories/{categoryId}", handle: (*API).getCategory},
	{name: "nameCategory", method: http.MethodPut, path: "/v1/categories/{categoryId}", handle: (*API).nameCategory, body: jsonBody},
	{name: "deleteCategory", method: http.MethodDelete, path: "/v1/categories/{categoryId}", handle: (*API).deleteCategory},

	{name: "listOrders", method: http.MethodGet, path: "/v1/orders", handle: (*API).listOrders},
	{name: "placeOrder", method: http.MethodPost, path: "/v1/orders", handle: (*API).placeOrder, body: jsonBody},
	{name: "getOrder", method: http.MethodGet, path: "/v1/orders/{orderId}", handle: (*API).getOrder},
	{name: "completeOrder", method: http.MethodPost, path: "/v1/orders/{orderId}/complete", handle: (*API).completeOrder, body: ignoredBody},
	{name: "cancelOrder", method: http.MethodPost, path: "/v1/orders/{orderId}/cancel", handle: (*API).cancelOrder, body: ignoredBody},
}

// Config is what the API needs.
type Config struct {
	Environment petstore.Environment
	Storage     petstore.Storage
	// Versioned says whether animals have changed since an answer was made. Nil means that nobody can say, so no answer is
	// used again.
	Versioned petstore.Versioned
	Limiter   petstore.Limiter
	// Distant is the Limiter if it asks another server, so that reads need not wait for its decision. Nil means that it
	// decides at once.
	Distant petstore.Distant
	// Pages are for people and need no key. It maps a path to the handler of its GET and HEAD.
	Pages map[string]http.Handler
	// Probes are the pages that machines ask for all the time. Requests for them are logged at debug level, even if they
	// fail.
	Probes map[string]http.Handler
	// NamedKey is the API key that the operator chose, if any.
	NamedKey string
	// BaseURL is where clients find the service, without the version segment; empty makes links path-absolute.
	BaseURL string
	// TrustedProxies are the peers whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	// CountOnly counts requests, but refuses none for being too many.
	CountOnly bool
	// OrderHold is how long an order holds its animal if the client does not say; zero means petstore.DefaultHold.
	OrderHold time.Duration
	// KeepDeprecated serves getPet beyond its sunset.
	KeepDeprecated bool
	// MaxWorking is how many requests the API works on at once. It refuses further requests early. Zero means any
	// number.
	MaxWorking int64
	// BodyBudget is how many bytes of bodies the API holds at once, not counting the first 4 KiB of each. An owner may have
	// an eighth of it. Bodies beyond it are refused. Zero means any number.
	BodyBudget int64
	Log        *slog.Logger
	// Access gets a line of JSON for every request whose level is enabled in Log, one Write for each line. If it is
	// nil, Log gets the lines.
	Access  io.Writer
	Metrics prometheus.Registerer
	// Tracer makes a span for every request; nil makes none.
	Tracer trace.Tracer
	Now    func() time.Time
}

// API serves the public listener.
type API struct {
	Config
	router  router
	open    map[string]*resource // pages and probes, which need no key, by path
	keys    *keyCache
	lists   *pageCache
	metrics *metrics
	links   links
	// namedHash is the hash of NamedKey, which need not have the form of the keys that petstore makes. No token is empty.
	namedHash petstore.SecretHash
	working   atomic.Int64
	bodies    *budget
	outbox    *outbox
	serve     handler
}

// New makes the API.
func New(c Config) *API {
	c.OrderHold = cmp.Or(c.OrderHold, petstore.DefaultHold)
	a := &API{
		Config:  c,
		router:  newRouter(operations),
		open:    newPages(c.Pages, c.Probes),
		keys:    newKeyCache(c.Storage, c.Log, c.Now),
		lists:   newPageCache(c.Versioned),
		metrics: newMetrics(c.Metrics),
		links:   newLinks(c.BaseURL),

		namedHash: petstore.HashSecret(c.NamedKey),

		bodies: newBudget(c.BodyBudget, c.BodyBudget/shares),
		outbox: newOutbox(answerBudget),
	}
	a.serve = a.observed(a.traced(a.rendered(a.crossOrigin(a.matched(a.identified(a.limited(a.routed(a.permitted(a.addressed(a.sent(a.received(a.admitted(a.performed)))))))))))))
	a.showLoad()
	return a
}

// handler is one step in the chain of a request. The error that it returns is the refusal to render.
type handler func(*exchange) error

// ServeHTTP answers one request. If the answer breaks off, ServeHTTP aborts it, so that the client notices.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := a.serve(newExchange(w, r, a.Now())); err != nil {
		panic(http.ErrAbortHandler)
	}
}
