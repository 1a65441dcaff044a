package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// show returns a page of a store with these settings.
func show(s Settings, path string) string {
	recorder := httptest.NewRecorder()
	Pages(s)[path].ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
	return recorder.Body.String()
}

func TestEveryPageHasTheNameOfTheStoreAsText(t *testing.T) {
	const name, escaped = `Paws</title><script>alert("1")</script> & 'Co'`, `Paws&lt;/title&gt;&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt; &amp; &#39;Co&#39;`
	for path, kind := range map[string]string{"/": "", "/console": " console", "/docs": ""} {
		page := show(Settings{StoreName: name}, path)
		if strings.Contains(page, name) || strings.Contains(page, "<script>") || strings.Contains(page, "Petstore</a>") {
			t.Errorf("%s has the name as markup, or another name", path)
		}
		for _, want := range []string{` data-store="` + escaped + `"`, " · " + escaped + kind + "</title>", `height="32">` + escaped + kind + "</a>"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s lacks %s", path, want)
			}
		}
	}
}

func TestPagesKnowTheHoldAndTheEnvironment(t *testing.T) {
	for seconds, hold := range map[string]time.Duration{"60": time.Minute, "259200": 72 * time.Hour, "2592000": 720 * time.Hour} {
		for _, path := range []string{"/", "/console"} {
			if page := show(Settings{Hold: hold}, path); !strings.Contains(page, ` data-hold="`+seconds+`"`) {
				t.Errorf("with a hold of %s, %s lacks %s", hold, path, seconds)
			}
		}
	}
	const mark = ` data-environment="staging"`
	for _, path := range []string{"/", "/console", "/docs"} {
		if strings.Contains(show(Settings{}, path), mark) || !strings.Contains(show(Settings{Staging: true}, path), mark) {
			t.Errorf("%s is not marked as staging exactly in staging", path)
		}
	}
}
