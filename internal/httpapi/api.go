// Package httpapi is the HTTP edge. It turns requests into calls of petstore.Storage and petstore.Limiter, and turns
// results and refusals into the bytes that the API documents.
//
// The table of operations and the chain of steps for every request are in api.go. Each step is a method with that name,
// usually in middleware.go. The code of an operation is in the file of its noun, such as pets.go.
package httpapi

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"petstore/internal/feed"
	"petstore/internal/petstore"
)

// operations lists the operations of the API. A test checks that it and api/openapi.yaml name the same ones.
var operations = []operation{
	{name: "listPets", method: http.MethodGet, path: "/v1/pets", handle: (*API).listPets},
	{name: "createPet", method: http.MethodPost, path: "/v1/pets", handle: (*API).createPet, body: jsonBody},
	{name: "getPet", method: http.MethodGet, path: "/v1/pets/{petId}", handle: (*API).getPet, deprecated: true},
	{name: "updatePet", method: http.MethodPatch, path: "/v1/pets/{petId}", handle: (*API).updatePet, body: patchBody},
	{name: "deletePet", method: http.MethodDelete, path: "/v1/pets/{petId}", handle: (*API).deletePet},
	{name: "getProfile", method: http.MethodGet, path: "/v1/pets/{petId}/profile", handle: (*API).getProfile},
	{name: "updateProfile", method: http.MethodPatch, path: "/v1/pets/{petId}/profile", handle: (*API).updateProfile, body: patchBody},
	{name: "addPhoto", method: http.MethodPost, path: "/v1/pets/{petId}/photos", handle: (*API).addPhoto, body: photoBody},
	{name: "coverPhoto", method: http.MethodPost, path: "/v1/pets/{petId}/photos/{photoId}/cover", handle: (*API).coverPhoto, body: ignoredBody},
	{name: "deletePhoto", method: http.MethodDelete, path: "/v1/pets/{petId}/photos/{photoId}", handle: (*API).deletePhoto},
	{name: "getInventory", method: http.MethodGet, path: "/v1/inventory", handle: (*API).getInventory},

	{name: "listCategories", method: http.MethodGet, path: "/v1/categories", handle: (*API).listCategories},
	{name: "createCategory", method: http.MethodPost, path: "/v1/categories", handle: (*API).createCategory, body: jsonBody},
	{name: "getCategory", method: http.MethodGet, path: "/v1/categories/{categoryId}", handle: (*API).getCategory},
	{name: "nameCategory", method: http.MethodPut, path: "/v1/categories/{categoryId}", handle: (*API).nameCategory, body: jsonBody},
	{name: "deleteCategory", method: http.MethodDelete, path: "/v1/categories/{categoryId}", handle: (*API).deleteCategory},

	{name: "listOrders", method: http.MethodGet, path: "/v1/orders", handle: (*API).listOrders},
	{name: "placeOrder", method: http.MethodPost, path: "/v1/orders", handle: (*API).placeOrder, body: jsonBody},
	{name: "getOrder", method: http.MethodGet, path: "/v1/orders/{orderId}", handle: (*API).getOrder},
	{name: "updateOrder", method: http.MethodPatch, path: "/v1/orders/{orderId}", handle: (*API).updateOrder, body: patchBody},
	{name: "completeOrder", method: http.MethodPost, path: "/v1/orders/{orderId}/complete", handle: (*API).completeOrder, body: ignoredBody},
	{name: "cancelOrder", method: http.MethodPost, path: "/v1/orders/{orderId}/cancel", handle: (*API).cancelOrder, body: ignoredBody},

	{name: "listEvents", method: http.MethodGet, path: "/v1/events", handle: (*API).listEvents},

	{name: "listWebhooks", method: http.MethodGet, path: "/v1/webhooks", handle: (*API).listWebhooks, admin: true},
	{name: "createWebhook", method: http.MethodPost, path: "/v1/webhooks", handle: (*API).createWebhook, admin: true, body: jsonBody},
	{name: "getWebhook", method: http.MethodGet, path: "/v1/webhooks/{webhookId}", handle: (*API).getWebhook, admin: true},
	{name: "updateWebhook", method: http.MethodPatch, path: "/v1/webhooks/{webhookId}", handle: (*API).updateWebhook, admin: true, body: patchBody},
	{name: "deleteWebhook", method: http.MethodDelete, path: "/v1/webhooks/{webhookId}", handle: (*API).deleteWebhook, admin: true},
	{name: "rotateWebhook", method: http.MethodPost, path: "/v1/webhooks/{webhookId}/rotate", handle: (*API).rotateWebhook, admin: true, body: ignoredBody},
	{name: "pingWebhook", method: http.MethodPost, path: "/v1/webhooks/{webhookId}/ping", handle: (*API).pingWebhook, admin: true, body: ignoredBody, repeats: true},
	{name: "listDeliveries", method: http.MethodGet, path: "/v1/webhooks/{webhookId}/deliveries", handle: (*API).listDeliveries, admin: true},

	{name: "getOwnKey", method: http.MethodGet, path: "/v1/key", handle: (*API).getOwnKey},
	{name: "getOwnUsage", method: http.MethodGet, path: "/v1/key/usage", handle: (*API).getOwnUsage},
	{name: "listKeys", method: http.MethodGet, path: "/v1/keys", handle: (*API).listKeys, admin: true},
	{name: "createKey", method: http.MethodPost, path: "/v1/keys", handle: (*API).createKey, admin: true, body: jsonBody},
	{name: "getKey", method: http.MethodGet, path: "/v1/keys/{keyId}", handle: (*API).getKey, admin: true},
	{name: "updateKey", method: http.MethodPatch, path: "/v1/keys/{keyId}", handle: (*API).updateKey, admin: true, body: patchBody},
	{name: "rotateKey", method: http.MethodPost, path: "/v1/keys/{keyId}/rotate", handle: (*API).rotateKey, admin: true, body: optionalBody},
	{name: "revokeKey", method: http.MethodPost, path: "/v1/keys/{keyId}/revoke", handle: (*API).revokeKey, admin: true, body: ignoredBody},
	{name: "unbanKey", method: http.MethodPost, path: "/v1/keys/{keyId}/unban", handle: (*API).unbanKey, admin: true, body: ignoredBody},
	{name: "getKeyUsage", method: http.MethodGet, path: "/v1/keys/{keyId}/usage", handle: (*API).getKeyUsage, admin: true},
	{name: "getStore", method: http.MethodGet, path: "/v1/store", handle: (*API).getStore, admin: true},
}

// photoFiles lists the files of photos. They are outside the versions of the API, because browsers ask for them without a
// key.
var photoFiles = []operation{
	{name: photoRoute, method: http.MethodGet, path: "/photos/{token}/1280.jpg", handle: (*API).getLargePhoto, photoFile: true},
	{name: photoRoute, method: http.MethodGet, path: "/photos/{token}/400.jpg", handle: (*API).getSmallPhoto, photoFile: true},
}

// Config contains everything that the API needs.
type Config struct {
	// Version is the version of the program.
	Version     string
	Environment petstore.Environment
	Storage     petstore.Storage
	// Versioned tells whether animals have changed since an answer was encoded. If it is nil, no answer is reused.
	Versioned petstore.Versioned
	Limiter   petstore.Limiter
	// Used, if not nil, is called after each answer to a request with a valid key. It must not wait for anything. The
	// argument refused says whether a rate limit or a ban refused the request.
	Used func(owner string, at time.Time, refused bool)
	// Distant is the Limiter, if it asks another server. Reads then go ahead while it decides. Nil means that the
	// Limiter decides at once.
	Distant petstore.Distant
	// Pages are for people and need no key. The map has the handler for GET and HEAD of each path.
	Pages map[string]http.Handler
	// NoPage answers a browser that requests a path at which there is nothing. If it is nil, browsers get an API error like
	// everybody else.
	NoPage http.Handler
	// Probes are pages that load balancers and monitors request all the time. Their requests are logged at debug level,
	// even if they fail.
	Probes map[string]http.Handler
	// NamedKey is the API key that the operator chose, or empty.
	NamedKey string
	// BaseURL is the URL of the service for clients, without /v1. If it is empty, links contain only paths.
	BaseURL string
	// TrustedProxies are the networks of the proxies whose X-Forwarded-For header is trusted.
	TrustedProxies []netip.Prefix
	// CountOnly means that requests are counted but never refused because of a limit or a ban.
	CountOnly bool
	// OrderHold is how long an order holds its animal if the client does not say how long. Zero means
	// petstore.DefaultHold.
	OrderHold time.Duration
	// KeepDeprecated means that getPet still works after its sunset.
	KeepDeprecated bool
	// MaxWorking is the number of requests that the API works on at once. It refuses further requests before any work
	// on them. Zero means any number.
	MaxWorking int64
	// BodyBudget is the number of bytes that all request bodies may take at once, not counting the first 4 KiB of each.
	// One owner may take an eighth of it. The API refuses bodies beyond it. Zero means any number. Photos do not count.
	BodyBudget int64
	// CheckWebhookURL returns what is wrong with the URL of a webhook, or "".
	CheckWebhookURL func(url string) (problem string)
	// Ping sends a ping to a webhook and returns how that went.
	Ping func(ctx context.Context, webhook petstore.Webhook) petstore.Delivery
	// MaxStreams is the number of streams of events that may be open at once. Zero means any number.
	MaxStreams int
	Stream     StreamTimes
	// LongLived, if not nil, is called when a request becomes a stream, which may last for long. The function that it
	// returns is called at the end of the stream.
	LongLived func(*http.Request) (ended func())
	Log       *slog.Logger
	// Access gets a line of JSON for every request whose level is enabled in Log. Each line is one Write. If Access is
	// nil, Log gets the lines.
	Access  io.Writer
	Metrics prometheus.Registerer
	// Tracer creates a span for every request. Nil means that requests are not traced.
	Tracer trace.Tracer
	Now    func() time.Time
}

// API serves the public listener.
type API struct {
	Config
	router    router
	pages     map[string]*resource // Pages and Probes, by path
	keys      *keyCache
	unchecked *uncheckedKeys
	lists     *pageCache
	metrics   *metrics
	links     links
	// namedHash is the hash of NamedKey, whose form may differ from that of generated keys. If NamedKey is empty, no
	// token has this hash, because no token is empty.
	namedHash petstore.SecretHash
	working   atomic.Int64
	bodies    *budget
	uploads   *uploads
	unread    *unreadAnswers
	feed      *feed.Follower
	streams   *eventStreams
	serve     handler
}

// New returns an API.
func New(c Config) *API {
	c.OrderHold = cmp.Or(c.OrderHold, petstore.DefaultHold)
	c.Stream.Bookmark = cmp.Or(c.Stream.Bookmark, 15*time.Second)
	c.Stream.Unread = cmp.Or(c.Stream.Unread, 10*time.Second)
	c.Stream.Life = cmp.Or(c.Stream.Life, 30*time.Minute)
	keys := newKeyCache(c.Storage, c.Log, c.Now)
	a := &API{
		Config:    c,
		router:    newRouter(slices.Concat(operations, photoFiles)),
		pages:     newPages(c.Pages, c.Probes),
		keys:      keys,
		unchecked: newUncheckedKeys(keys.untilStalled),
		lists:     newPageCache(c.Versioned),
		metrics:   newMetrics(c.Metrics),
		links:     newLinks(c.BaseURL),

		namedHash: petstore.HashSecret(c.NamedKey),

		bodies:  newBudget(c.BodyBudget, c.BodyBudget/shares),
		uploads: newUploads(),
		unread:  newUnreadAnswers(answerBudget),
	}
	a.feed = feed.New(c.Storage, a.links.encodeEvent, c.Log)
	a.streams = newEventStreams(c.MaxStreams, a.mayFollow)
	a.serve = a.observed(a.traced(a.rendered(a.crossOrigin(a.matched(a.identified(a.limited(a.routed(a.permitted(a.addressed(a.sent(a.received(a.admitted(a.performed)))))))))))))
	a.registerLoad()
	return a
}

// Feed returns what follows the events for the streams. Others in this process may follow them too. They get the same bytes.
func (a *API) Feed() *feed.Follower { return a.feed }

// handler is one step in the chain of a request. If it returns an error, the client gets the refusal for that error.
type handler func(*exchange) error

// ServeHTTP answers one request. If the answer is cut short, ServeHTTP aborts the connection so that the client
// notices.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := a.serve(newExchange(w, r, a.Now())); err != nil {
		panic(http.ErrAbortHandler)
	}
}
