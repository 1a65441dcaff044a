package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

func requestUnknown(method, path string) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	NotFound(Settings{StoreName: `<b>"Paws"`}, allPages()).ServeHTTP(recorder, httptest.NewRequest(method, path, nil))
	return recorder
}

func TestEveryLinkOfTheNotFoundPageWorksFromEveryPath(t *testing.T) {
	links := regexp.MustCompile(`(?:href|src)="([^"]+)"`)
	for _, path := range []string{"/dcos", "/docs/", "/animals/7", "/animals/", "/a/b/c/d", "//a", "/a%2Fb/c", "/console/x?y=z/w"} {
		base, err := url.Parse("http://host" + path)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range links.FindAllStringSubmatch(requestUnknown(http.MethodGet, path).Body.String(), -1) {
			target, err := base.Parse(found[1])
			if err != nil || allPages()[target.Path] == nil || target.Host != "host" {
				t.Errorf("from %s, the link %s leads to %s", path, found[1], target)
			}
		}
	}
}

func TestTheNotFoundPageNamesThePageThatWasMeant(t *testing.T) {
	for path, want := range map[string]string{
		"/docs/": "docs", "/docs//": "docs", "/Docs": "docs", "/docs.html": "docs", "/console/": "console", "/dcos": "", "/animals/7": "", "//": "", "/favicon.svg/": "",
	} {
		page := requestUnknown(http.MethodGet, path).Body.String()
		if _, after, found := strings.Cut(page, "Did you mean"); found != (want != "") || found && !strings.Contains(after, ">/"+want+"</a>?") {
			t.Errorf("the page for %s does not name %q:\n%s", path, want, page)
		}
	}
}

func TestTheNotFoundPageIs404WithTheHeadersOfAPage(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		a := requestUnknown(method, "/dcos")
		for name, want := range map[string]string{"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy, "Vary": "Accept", "X-Content-Type-Options": "nosniff"} {
			if got := a.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", method, name, got, want)
			}
		}
		if isHead := method == http.MethodHead; a.Code != http.StatusNotFound || isHead != (a.Body.Len() == 0) {
			t.Errorf("%s is answered %d with %d bytes", method, a.Code, a.Body.Len())
		}
		if body := a.Body.String(); strings.Contains(body, "<b>") || method == http.MethodGet && !strings.Contains(body, "<title>No such page · &lt;b&gt;") {
			t.Errorf("the name of the store is not text:\n%s", body)
		}
	}
}
