package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

var safeID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// CheckEvery checks the rules that hold for all answers.
func CheckEvery(r *http.Request, a Answer) error {
	if err := everyAnswer(r, a); err != nil {
		return fmt.Errorf("%w\n%s", err, a.Raw)
	}
	return nil
}

func everyAnswer(r *http.Request, a Answer) error {
	switch {
	case a.Status >= 300 && a.Status < 400 && (a.Status != http.StatusNotModified || isVersioned(r)):
		return errors.New("the answer is a redirect")
	case !safeID.MatchString(a.Header.Get("X-Request-Id")):
		return errors.New("X-Request-Id is not safe")
	case a.Header.Get("Access-Control-Allow-Origin") != "*" || a.Header.Get("Access-Control-Expose-Headers") == "":
		return errors.New("pages of other origins cannot read the answer")
	case a.Header.Get("Access-Control-Allow-Credentials") != "":
		return errors.New("a browser would send its own credentials")
	case isVersioned(r) && a.Header.Get("Cache-Control") != "no-store":
		return errors.New("the answer may be cached")
	case (a.Status == 201 && !addsPhoto(r)) != (a.Header.Get("Location") != ""):
		return errors.New("an answer must have a Location if it is a 201, except that of a photo, and only then")
	case r.Method == http.MethodHead && a.Body != "":
		return errors.New("the answer to HEAD has a body")
	case a.Status == http.StatusNoContent && (a.Body != "" || a.Header.Get("Content-Type") != ""):
		return errors.New("an answer with the status 204 has content")
	case isPhotoFile(r) && a.Status != 405:
		return isUncounted(a)
	case a.Status >= 400:
		return hasLimits(a)
	}
	return nil
}

func hasLimits(a Answer) error {
	for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
		if !strings.Contains(a.Raw, "\r\n"+name+": ") {
			return fmt.Errorf("%s is missing, or its name is spelled differently", name)
		}
	}
	return nil
}

func addsPhoto(r *http.Request) bool {
	return isVersioned(r) && strings.HasSuffix(r.URL.EscapedPath(), "/photos")
}

func isPhotoFile(r *http.Request) bool {
	path := strings.Split(r.URL.EscapedPath(), "/")
	return len(path) == 4 && path[1] == "photos" && (path[3] == "1280.jpg" || path[3] == "400.jpg") && r.Method != http.MethodOptions
}

// isUncounted checks the answer to a request for the file of a photo. It is counted for nobody, and only a photo may be
// cached.
func isUncounted(a Answer) error {
	switch caching := a.Header.Get("Cache-Control"); {
	case a.Header.Get("X-RateLimit-Limit") != "":
		return errors.New("a photo is counted")
	case a.Status < 400 && caching != "public, max-age=86400, immutable", a.Status >= 400 && a.Status != 416 && caching != "no-store":
		return fmt.Errorf("a photo has the Cache-Control %q", caching)
	}
	return nil
}

func isVersioned(r *http.Request) bool {
	path := r.URL.EscapedPath()
	return path == "/v1" || strings.HasPrefix(path, "/v1/")
}

// isError checks that the answer is an Error with exactly three fields.
func isError(doc *openapi3.T, a Answer) error {
	if a.Header.Get("Content-Type") != "application/json" {
		return errors.New("the error is not JSON by its Content-Type")
	}
	var value any
	if err := json.Unmarshal([]byte(a.Body), &value); err != nil {
		return fmt.Errorf("the error is not JSON: %w", err)
	}
	if err := doc.Components.Schemas["Error"].Value.VisitJSON(value, openapi3.EnableJSONSchema2020()); err != nil {
		return fmt.Errorf("the error is not an Error: %w", err)
	}
	if status := value.(map[string]any)["status"]; status != float64(a.Status) {
		return fmt.Errorf("the Error says %v and the status line %d", status, a.Status)
	}
	return nil
}
