package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oasdiff/yaml"

	"petstore/api"
)

var someSettings = Settings{StoreName: "Petstore", Hold: 72 * time.Hour}

var allPages = sync.OnceValue(func() map[string]http.Handler { return Pages(someSettings) })

func get(t *testing.T, path string, headers ...string) *http.Response {
	t.Helper()
	page := allPages()[path]
	if page == nil {
		t.Fatalf("there is no page %s", path)
	}
	request := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	recorder := httptest.NewRecorder()
	page.ServeHTTP(recorder, request)
	return recorder.Result()
}

func body(t *testing.T, response *http.Response) []byte {
	t.Helper()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPagesAreExactlyThese(t *testing.T) {
	want := []string{
		"/",
		"/assets/console/act.js",
		"/assets/console/address.js",
		"/assets/console/chart.js",
		"/assets/console/form.js",
		"/assets/console/hook-form.js",
		"/assets/console/hook-operations.js",
		"/assets/console/hook-parts.js",
		"/assets/console/hooks.js",
		"/assets/console/key.js",
		"/assets/console/keys.js",
		"/assets/console/main.js",
		"/assets/console/operations.js",
		"/assets/console/secret.js",
		"/assets/console/store.js",
		"/assets/console/style.css",
		"/assets/console/usage.js",
		"/assets/console/words.js",
		"/assets/desk/actions.js",
		"/assets/desk/address.js",
		"/assets/desk/animal.css",
		"/assets/desk/animal.js",
		"/assets/desk/cards.js",
		"/assets/desk/categories-view.js",
		"/assets/desk/categories.js",
		"/assets/desk/csv.js",
		"/assets/desk/events.js",
		"/assets/desk/form.js",
		"/assets/desk/found.js",
		"/assets/desk/gauge.js",
		"/assets/desk/list.js",
		"/assets/desk/main.js",
		"/assets/desk/meanwhile.js",
		"/assets/desk/operations.js",
		"/assets/desk/photos.js",
		"/assets/desk/place.js",
		"/assets/desk/portrait.js",
		"/assets/desk/print.css",
		"/assets/desk/print.js",
		"/assets/desk/profile.js",
		"/assets/desk/reservations.js",
		"/assets/desk/reserve.js",
		"/assets/desk/rows.js",
		"/assets/desk/search.js",
		"/assets/desk/style.css",
		"/assets/desk/take.js",
		"/assets/desk/time.js",
		"/assets/desk/timeline.js",
		"/assets/desk/undo.js",
		"/assets/desk/upload.js",
		"/assets/desk/views.css",
		"/assets/desk/watch.js",
		"/assets/desk/words.js",
		"/assets/docs/frame.js",
		"/assets/docs/main.js",
		"/assets/docs/samples.js",
		"/assets/docs/search.js",
		"/assets/docs/style.css",
		"/assets/docs/try.js",
		"/assets/shared/access.js",
		"/assets/shared/address.js",
		"/assets/shared/api.js",
		"/assets/shared/clipboard.js",
		"/assets/shared/dialogs.js",
		"/assets/shared/fields.js",
		"/assets/shared/notice.js",
		"/assets/shared/signin.js",
		"/assets/shared/store.js",
		"/assets/shared/stream.js",
		"/assets/shared/style.css",
		"/assets/shared/tabs.js",
		"/console",
		"/docs",
		"/docs/adoption",
		"/docs/clients",
		"/docs/events",
		"/docs/img/life.svg",
		"/docs/limits",
		"/docs/photos",
		"/docs/profiles",
		"/docs/rate-limits",
		"/docs/search",
		"/docs/search.json",
		"/docs/webhooks",
		"/favicon.svg",
		"/openapi.json",
		"/openapi.yaml",
	}
	if got := slices.Sorted(maps.Keys(Pages(someSettings))); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEveryPageHasItsTypeAndSecurityHeaders(t *testing.T) {
	types := map[string]string{
		"": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "svg": "image/svg+xml",
		"json": "application/json", "yaml": "application/yaml",
	}
	for path := range allPages() {
		_, extension, _ := strings.Cut(path, ".")
		h := get(t, path).Header
		for name, want := range map[string]string{
			"Content-Type":           types[extension],
			"X-Content-Type-Options": "nosniff",
			"Referrer-Policy":        "no-referrer",
			"Cache-Control":          "no-cache",
		} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		policy := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self';", "style-src 'self';", "connect-src 'self'", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'", "img-src 'self';", "require-trusted-types-for 'script'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy %q lacks %q", path, policy, want)
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("%s: the policy allows something unsafe: %q", path, policy)
		}
	}
}

func TestEachPageStaysSmall(t *testing.T) {
	for page, limit := range map[string]int{"/": 150_000, "/console": 100_000} {
		total := len(body(t, get(t, page)))
		for name := range loadedBy(t, page) {
			total += len(body(t, get(t, "/"+name)))
		}
		if total >= limit {
			t.Errorf("%s and everything it loads has %d bytes, want less than %d", page, total, limit)
		}
	}
}

// loads matches the name of a script, a style sheet or a picture in a page.
var loads = regexp.MustCompile(`(?:<link rel="[a-z]+"|<script type="module"|<img) (?:href|src)="([^"]+)"`)

// loadedBy returns the names of the scripts, style sheets and pictures that a page names.
func loadedBy(t *testing.T, page string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, found := range loads.FindAllSubmatch(body(t, get(t, page)), -1) {
		names[strings.TrimPrefix(path.Join(path.Dir(page), string(found[1])), "/")] = true
	}
	return names
}

// A script that is not named in the page is loaded late, after the script that imports it.
func TestEachPageNamesEveryScriptItLoads(t *testing.T) {
	imports := regexp.MustCompile(`(?m)^import ?(?:.*\bfrom )?"(\.[^"]+)";$`)
	for page, main := range map[string]string{"/": "assets/desk/main.js", "/console": "assets/console/main.js", "/docs": "assets/docs/main.js", "/docs/clients": "assets/docs/frame.js"} {
		named, needed := loadedBy(t, page), map[string]bool{}
		for next := []string{main}; len(next) > 0; next = next[1:] {
			if needed[next[0]] {
				continue
			}
			needed[next[0]] = true
			for _, found := range imports.FindAllSubmatch(body(t, get(t, "/"+next[0])), -1) {
				next = append(next, path.Join(path.Dir(next[0]), string(found[1])))
			}
		}
		for script := range named {
			if strings.HasSuffix(script, ".js") && !needed[script] {
				t.Errorf("%s loads %s, which no script imports", page, script)
			}
		}
		for script := range needed {
			if !named[script] {
				t.Errorf("%s does not name %s", page, script)
			}
		}
	}
}

func TestAnUnchangedPageIsNotSentAgain(t *testing.T) {
	for path := range allPages() {
		tag := get(t, path, "Accept-Encoding", "gzip").Header.Get("ETag")
		if tag == "" {
			t.Errorf("%s has no ETag", path)
		}
		again := get(t, path, "Accept-Encoding", "gzip", "If-None-Match", tag)
		if again.StatusCode != http.StatusNotModified || len(body(t, again)) > 0 {
			t.Errorf("%s: the second request is answered %d, want 304", path, again.StatusCode)
		}
	}
}

// The refusal of a range would need an API error as its body, and pages do not send API errors.
func TestRangeAndConditionalRequestsGetTheWholePage(t *testing.T) {
	whole := body(t, get(t, "/docs"))
	for _, header := range [][]string{
		{"Range", "bytes=0-1"}, {"Range", "bytes=9999999-"}, {"Range", "bytes=0-0,2-2"}, {"If-Match", `"another"`}, {"If-None-Match", `"another"`},
		{"If-Unmodified-Since", "Thu, 01 Jan 1970 00:00:00 GMT"},
	} {
		a := get(t, "/docs", header...)
		if a.StatusCode != http.StatusOK || !bytes.Equal(body(t, a), whole) {
			t.Errorf("with %q the answer is %d", header, a.StatusCode)
		}
	}
}

func TestOnlyClientsThatAcceptGzipGetIt(t *testing.T) {
	for accepted, want := range map[string]string{
		"gzip": "gzip", "br, GZIP": "gzip", "gzip;q=0.001": "gzip", "br;q=1.0, gzip ; q=0.5": "gzip",
		"": "", "br": "", "gzip;q=0": "", "br, gzip; q=0.000": "", "gzipped": "", "x-gzip": "",
	} {
		if got := get(t, "/docs", "Accept-Encoding", accepted).Header.Get("Content-Encoding"); got != want {
			t.Errorf("a client that accepts %q gets %q, want %q", accepted, got, want)
		}
	}
}

func TestCompressedPagesEqualThePlainOnes(t *testing.T) {
	for path := range allPages() {
		gzipped, plain := get(t, path, "Accept-Encoding", "br, gzip"), get(t, path)
		if got := gzipped.Header.Get("Content-Encoding"); got != "gzip" {
			t.Fatalf("%s: Content-Encoding is %q, want gzip", path, got)
		}
		if plain.Header.Get("Content-Encoding") != "" || plain.Header.Get("ETag") == gzipped.Header.Get("ETag") {
			t.Errorf("%s: the plain form has the same ETag or encoding as the compressed one", path)
		}
		reader, err := gzip.NewReader(gzipped.Body)
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := io.ReadAll(reader)
		if err != nil || !bytes.Equal(unpacked, body(t, plain)) {
			t.Errorf("%s: the two forms differ (%v)", path, err)
		}
	}
}

func TestADocumentNamesTheServerThatServesIt(t *testing.T) {
	for base, want := range map[string][]string{
		"":                             {"/v1", "{base_url}", "{staging_base_url}"},
		"https://api.example.com":      {"https://api.example.com/v1"},
		"http://[::1]:8080/a%22b/$1:c": {"http://[::1]:8080/a%22b/$1:c/v1"},
	} {
		pages := Pages(Settings{BaseURL: base})
		for path, original := range map[string][]byte{"/openapi.json": api.JSON, "/openapi.yaml": api.YAML} {
			recorder := httptest.NewRecorder()
			pages[path].ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
			served, written := parse(t, recorder.Body.Bytes()), parse(t, original)
			var urls []string
			for _, server := range served["servers"].([]any) {
				urls = append(urls, server.(map[string]any)["url"].(string))
			}
			if !slices.Equal(urls, want) {
				t.Errorf("%s with the address %q lists the servers %q, want %q", path, base, urls, want)
			}
			delete(served, "servers")
			delete(written, "servers")
			if !reflect.DeepEqual(served, written) {
				t.Errorf("%s with the address %q differs from the document in more than its servers", path, base)
			}
		}
	}
}

// parse reads a document in YAML or JSON.
func parse(t *testing.T, text []byte) (document map[string]any) {
	t.Helper()
	text, err := yaml.YAMLToJSON(text)
	if err == nil {
		err = json.Unmarshal(text, &document)
	}
	if err != nil {
		t.Fatal(err)
	}
	return document
}

func TestHeadAnswersWithoutABody(t *testing.T) {
	recorder := httptest.NewRecorder()
	Pages(someSettings)["/"].ServeHTTP(recorder, httptest.NewRequest(http.MethodHead, "/", nil))
	if recorder.Code != http.StatusOK || recorder.Body.Len() > 0 {
		t.Errorf("got %d with %d bytes", recorder.Code, recorder.Body.Len())
	}
}

func TestFilesHaveNoInlineScriptOrStyleAndNameNoOtherHost(t *testing.T) {
	inline := regexp.MustCompile(`(?i)<style|\bstyle=|<script[^>]*>[^<]|\son\w+=|javascript:|innerHTML|outerHTML|insertAdjacentHTML|document\.write`)
	host := regexp.MustCompile(`(?i)(https?:)?//[a-z0-9-]+\.[a-z]`)
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := files.ReadFile(name)
		if found := inline.Find(text); found != nil {
			t.Errorf("%s has %q", name, found)
		}
		for _, found := range host.FindAll(text, -1) {
			if !bytes.HasPrefix(found, []byte("http://www.w")) { // the XML namespace of SVG
				t.Errorf("%s names another host: %q", name, found)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestReferenceStaysSmall(t *testing.T) {
	total := 0
	for _, path := range []string{"/assets/docs/frame.js", "/assets/docs/main.js", "/assets/docs/samples.js", "/assets/docs/search.js", "/assets/docs/style.css", "/assets/docs/try.js"} {
		total += len(body(t, get(t, path)))
	}
	if total >= 40_000 { // a quarter of it for the search and for samples that follow what is typed
		t.Errorf("the reference's own style and scripts are %d bytes, want less than 40,000", total)
	}
	if gzipped := len(body(t, get(t, "/docs", "Accept-Encoding", "gzip"))); gzipped >= 60_000 {
		t.Errorf("the page is %d bytes on the wire, want less than 60,000", gzipped)
	}
}
