package httpapi_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"petstore/internal/httpapi"
)

// Load balancers send a probe every second. Lines about probes would bury the lines about clients.
func TestProbesAreLoggedOnlyAtDebugLevel(t *testing.T) {
	t.Parallel()
	answers := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	for _, c := range []struct {
		how    string
		level  slog.Level
		access bool
		logged bool
	}{
		{"the log at info", slog.LevelInfo, false, false},
		{"the log at debug", slog.LevelDebug, false, true},
		{"access lines at info", slog.LevelInfo, true, false},
		{"access lines at debug", slog.LevelDebug, true, true},
	} {
		t.Run(c.how, func(t *testing.T) {
			t.Parallel()
			lines := new(testLog)
			s := serve(t, func(config *httpapi.Config) {
				config.Pages = map[string]http.Handler{"/page": answers}
				config.Probes = map[string]http.Handler{"/probe": answers}
				config.Log = slog.New(slog.NewJSONHandler(lines, &slog.HandlerOptions{Level: c.level}))
				if c.access {
					config.Access = lines
				}
			})
			for _, path := range []string{"/page", "/probe"} {
				s.api.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
			}
			page, probe, _ := strings.Cut(lines.String(), "\n")
			if !strings.Contains(page, `"level":"ERROR"`) || strings.Contains(probe, `"level":"DEBUG"`) != c.logged || (probe != "") != c.logged {
				t.Errorf("the log is\n%s", lines)
			}
		})
	}
}
