package httpapi_test

import (
	"net/http"
	"testing"
	"time"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
)

func TestOnlyBrowsersGetAPageForAnUnknownPath(t *testing.T) {
	s := serve(t, func(c *httpapi.Config) {
		answers := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("a page")) })
		c.Pages = map[string]http.Handler{"/page": answers}
		c.Probes = map[string]http.Handler{"/healthz": answers}
		c.NoPage = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			w.Write([]byte("no page"))
		})
	})
	const browser = "Accept: text/html,application/xhtml+xml,*/*;q=0.8"
	for _, path := range []string{"/pgae", "/page/", "/", "/animals/7", "/v2/pets", "/photosets", "/V1/pets"} {
		a, err := roundTrip(s.address, request("GET", path, "", browser)) // s.send takes every 404 for an API error
		if err != nil || a.status != 404 || a.body != "no page" {
			t.Errorf("a browser that requests %s gets %v\n%s", path, err, a.raw)
		}
	}
	a, err := roundTrip(s.address, request("HEAD", "/pgae", "", "Accept: TEXT/HTML"))
	if err != nil || a.status != 404 || a.body != "" {
		t.Errorf("HEAD gets\n%s", a.raw)
	}
	a.hasLimits(t, 1000, 992, noon.Add(time.Minute))
	for _, other := range []string{"X-Other: text/html", "Accept: */*", "Accept: application/json", "Accept: text/plain"} {
		s.send(request("GET", "/pgae", "", other)).is(t, 404, "not_found")
	}
	for _, path := range []string{"/v1/dcos", "/photos", "/photos/x", "/healthz/", "/%76%31/x"} {
		if a := s.send(request("GET", path, s.key(petstore.Free), browser)); a.status != 404 || a.body == "no page" {
			t.Errorf("a browser that requests %s gets\n%s", path, a.raw)
		}
	}
	s.send(request("DELETE", "/pgae", "", browser)).is(t, 404, "not_found")
	s.send(request("POST", "/page", "", browser)).is(t, 405, "method_not_allowed")
}
