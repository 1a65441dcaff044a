package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"petstore/internal/testservice"
)

// profileDouble is a service with operations for profiles, which it keeps itself. It passes everything else on to a server.
type profileDouble struct {
	mu       sync.Mutex
	profiles map[string]map[string]any // by path
	answered map[string]string         // the path and body for which an idempotency key was used
}

// serveProfiles serves a store with profiles. It returns the variables for commands that call it. If intercept is not nil, it
// gets the requests for profiles first, and reports whether it has answered them.
func serveProfiles(t *testing.T, intercept func(http.ResponseWriter, *http.Request) bool) (*testservice.Instance, map[string]string) {
	t.Helper()
	s := testservice.Serve(t)
	address, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	double := &profileDouble{profiles: map[string]map[string]any{}, answered: map[string]string{}}
	pass := httputil.NewSingleHostReverseProxy(address)
	pass.ModifyResponse = double.include
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !strings.HasSuffix(r.URL.Path, "/profile"):
			pass.ServeHTTP(w, r)
		case intercept == nil || !intercept(w, r):
			double.patch(w, r)
		}
	}))
	t.Cleanup(proxy.Close)
	return s, map[string]string{"PETSTORE_SERVER": proxy.URL, "PETSTORE_API_KEY": s.Key}
}

// patch changes a profile, once for each idempotency key.
func (d *profileDouble) patch(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	key, request := r.Header.Get("Idempotency-Key"), r.URL.Path+string(body)
	before, repeated := d.answered[key]
	if repeated && before != request {
		http.Error(w, "the key was used for another request", http.StatusInternalServerError)
		return
	}
	profile := map[string]any{"photos": []any{}}
	maps.Copy(profile, d.profiles[r.URL.Path])
	if repeated {
		w.Header().Set("Idempotency-Replayed", "true")
	} else if err := json.Unmarshal(body, &profile); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	d.profiles[r.URL.Path], d.answered[key] = profile, request
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(profile)
}

// include adds the profiles to a page that was asked for them.
func (d *profileDouble) include(res *http.Response) error {
	if res.Request.URL.Query().Get("include") != "profile" || res.StatusCode != http.StatusOK {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var page []map[string]any
	decoder := json.NewDecoder(res.Body)
	decoder.UseNumber()
	if err := decoder.Decode(&page); err != nil {
		return err
	}
	for _, pet := range page {
		pet["profile"] = map[string]any{"photos": []any{}}
		if profile, found := d.profiles["/v1/pets/"+string(pet["id"].(json.Number))+"/profile"]; found {
			pet["profile"] = profile
		}
	}
	if link := res.Header.Get("Link"); link != "" {
		res.Header.Set("Link", strings.Replace(link, "/pets?", "/pets?include=profile&", 1))
	}
	text, err := json.Marshal(page)
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	res.Header.Set("Content-Length", strconv.Itoa(len(text)))
	return err
}
