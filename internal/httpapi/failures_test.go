package httpapi_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
)

var errSecret = errors.New("disk /var/lib/secret is on fire")

func TestASearchThatTakesTooLongIsToldWhatToSearchFor(t *testing.T) {
	storage := openHooked(t)
	s := serve(t, on(storage))
	key := s.key(petstore.Free)
	storage.setHook(func(_ context.Context, call string) error {
		if call == "ListPets" {
			return petstore.NotDone(petstore.ErrSearchTimeout)
		}
		return nil
	})
	a := s.get(key, "/v1/pets?q=rex+max")
	a.is(t, 503, "unavailable")
	a.has(t, "Retry-After", "1")
	if message := "This search takes too long. Use a rarer word, or add a categoryId."; !strings.Contains(a.raw, message) {
		t.Errorf("want %q, got\n%s", message, a.raw)
	}
}

func TestStorageFailureRevealsNothingToClients(t *testing.T) {
	panics := func(_ context.Context, call string) error {
		if call == "UseKey" { // the background update of an earlier request may run only now
			return nil
		}
		panic(errSecret)
	}
	fails := func(context.Context, string) error { return errSecret }
	out := func(context.Context, string) error { return petstore.NotDone(errSecret) }
	late := func(context.Context, string) error { return fmt.Errorf("query: %w", context.DeadlineExceeded) }
	for _, c := range []struct {
		behaviour string
		before    func(context.Context, string) error
		status    int
		code      string
		retry     string
		cause     string
	}{
		{"a panic is an internal error", panics, 500, "internal_error", "", "panic: *errors.errorString"},
		{"an unknown error is an internal error", fails, 500, "internal_error", "", errSecret.Error()},
		{"a storage that cannot be reached is unavailable", out, 503, "unavailable", "1", errSecret.Error()},
		{"a query that takes too long is unavailable", late, 503, "unavailable", "1", "query: context deadline exceeded"},
	} {
		t.Run(c.behaviour, func(t *testing.T) {
			storage := openHooked(t)
			s := serve(t, on(storage))
			key := s.key(petstore.Free)
			s.get(key, "/v1/pets").is(t, 200, "")
			storage.setHook(c.before)
			requests := []string{
				request("GET", "/v1/pets", key, "X-Request-Id: failing"),
				request("GET", "/v1/pets/1", key),
				withBody(request("POST", "/v1/pets", key), `{"name":"Rex","categoryId":1}`),
				withBody(request("POST", "/v1/pets", key, "Idempotency-Key: a"), `{"name":"Rex","categoryId":1}`),
			}
			for i, raw := range requests {
				a := s.send(raw)
				a.is(t, c.status, c.code)
				a.has(t, "Retry-After", c.retry)
				a.hasLimits(t, 60, int64(58-i), noon.Add(time.Minute))
				if strings.Contains(a.raw, "secret") {
					t.Errorf("the answer reveals the cause:\n%s", a.raw)
				}
			}
			storage.setHook(nil)
			if pets := s.pets(); len(pets) != 0 {
				t.Errorf("stored all the same: %v", pets)
			}
			s.get(key, "/v1/pets").is(t, 200, "")
			if line := s.log.lineOf("failing"); !strings.Contains(line, `"level":"ERROR"`) || !strings.Contains(line, `"cause":"`+c.cause) {
				t.Errorf("the log does not have the cause: %s", line)
			}
		})
	}
}

func TestUnknownOutcomeOfACreateSaysHowToRepeatIt(t *testing.T) {
	storage := openHooked(t)
	s := serve(t, on(storage))
	key := s.key(petstore.Free)
	storage.failOn("CreatePet", petstore.MaybeDone(errSecret))
	for _, c := range []struct {
		headers []string
		advice  string
	}{
		{[]string{"Idempotency-Key: a"}, "Send it again with the same Idempotency-Key, and it is done once only."},
		{nil, "Look before you send it again; with an Idempotency-Key it can always be sent again safely."},
	} {
		a := s.post(key, `{"name":"Rex","categoryId":1}`, c.headers...)
		a.is(t, 503, "outcome_unknown")
		a.has(t, "Retry-After", "1")
		if _, message := a.refusal(); message != "The store did not say whether this was done: it may have been. "+c.advice {
			t.Errorf("with %q the client reads: %s", c.headers, message)
		}
	}
}

func TestUnknownOutcomeOfAWriteWithoutABodySaysToRepeatIt(t *testing.T) {
	storage := openHooked(t)
	s := serve(t, on(storage))
	key := s.key(petstore.Free)
	storage.setHook(func(_ context.Context, call string) error {
		if call == "DeletePet" || call == "CloseOrder" {
			return petstore.MaybeDone(errSecret)
		}
		return nil
	})
	for _, head := range []string{
		request("DELETE", "/v1/pets/1", key), request("POST", "/v1/orders/1/complete", key), request("POST", "/v1/orders/1/cancel", key),
	} {
		a := s.send(head)
		a.is(t, 503, "outcome_unknown")
		if _, message := a.refusal(); !strings.Contains(message, "Send it again; what was done then stays as it is") {
			t.Errorf("%s\nthe client reads: %s", head, message)
		}
	}
}

func TestUncachedKeyIsUnavailableWhileTheStorageIs(t *testing.T) {
	storage := openHooked(t)
	s := serve(t, on(storage))
	cached, fresh := s.key(petstore.Free), s.key(petstore.Free)
	s.get(cached, "/v1/pets").is(t, 200, "")
	storage.failOn("FindKey", petstore.NotDone(errSecret))
	s.get(cached, "/v1/pets").is(t, 200, "")
	a := s.get(fresh, "/v1/pets")
	a.is(t, 503, "unavailable")
	a.has(t, "Retry-After", "1")
	a.has(t, "WWW-Authenticate", "")
	a.hasLimits(t, 1000, 1000, noon.Add(time.Minute))
	s.get("", "/v1/pets").is(t, 401, "unauthorized")
	s.get("garbage", "/v1/pets").is(t, 401, "unauthorized")
	s.clock.step(5 * time.Second)
	s.get(cached, "/v1/pets").is(t, 503, "unavailable")
	storage.setHook(nil)
	s.get(cached, "/v1/pets").is(t, 200, "")
	s.get(fresh, "/v1/pets").is(t, 200, "")
}

func TestRequestsBeyondMaxWorkingAreRefused(t *testing.T) {
	storage, metrics := openHooked(t), prometheus.NewRegistry()
	s := serve(t, on(storage), func(c *httpapi.Config) { c.MaxWorking, c.Metrics = 1, metrics })
	key := s.key(petstore.Free)
	s.get(key, "/v1/pets").is(t, 200, "")
	working, goOn := make(chan struct{}), make(chan struct{})
	storage.setHook(func(_ context.Context, call string) error {
		if call == "GetPet" {
			close(working)
			<-goOn
		}
		return nil
	})
	first := make(chan error)
	go func() {
		a, err := s.try(request("GET", "/v1/pets/1", key))
		if err == nil && a.status != 404 {
			err = errors.New(a.raw)
		}
		first <- err
	}()
	<-working
	if used, limit := metricValue(t, metrics, "petstore_working_slots"), metricValue(t, metrics, "petstore_working_slots_limit"); used != 1 || limit != 1 {
		t.Errorf("%v of %v slots are in use", used, limit)
	}
	a := s.get(key, "/v1/pets")
	a.is(t, 503, "unavailable")
	a.has(t, "Retry-After", "1")
	a.hasLimits(t, 60, 57, noon.Add(time.Minute))
	a = s.get(key, "/v1/pets/1")
	a.is(t, 503, "unavailable")
	a.has(t, "Deprecation", "@1794700800")
	s.get("", "/v1/pets").is(t, 401, "unauthorized")
	close(goOn)
	if err := <-first; err != nil {
		t.Error(err)
	}
	s.get(key, "/v1/pets").is(t, 200, "")
}

func TestAnswerCutShortIsLoggedCountedAndTraced(t *testing.T) {
	metrics, spans := prometheus.NewRegistry(), tracetest.NewSpanRecorder()
	s := serve(t, func(c *httpapi.Config) {
		c.Metrics = metrics
		c.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)).Tracer("test")
		c.Pages = map[string]http.Handler{"/page": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.Write([]byte("half a page"))
			panic(errSecret)
		})}
	})
	if a, err := roundTrip(s.address, request("GET", "/page", "", "X-Request-Id: broken")); err == nil {
		t.Errorf("the answer looks whole:\n%s", a.raw)
	}
	line := s.log.lineOf("broken")
	for _, part := range []string{`"msg":"request"`, `"level":"ERROR"`, `"status":500`, `"bytes":11`, `"cut":true`, `"cause":"panic: *errors.errorString\ngoroutine `} {
		if !strings.Contains(line, part) {
			t.Errorf("the log does not have %s: %s", part, line)
		}
	}
	waitForMetric(t, metrics, "petstore_requests_in_flight", 0)
	if n := metricValue(t, metrics, "petstore_requests_total", "page", "500"); n != 1 {
		t.Errorf("it is counted %v times", n)
	}
	if ended := spans.Ended(); len(ended) != 1 || ended[0].Name() != "GET /page" || ended[0].Status().Code != codes.Error {
		t.Errorf("the spans are %v", ended)
	}
	s.get("", "/").is(t, 404, "not_found")
}

func TestPanicOfAPageBeforeItsFirstByteIsAnError(t *testing.T) {
	s := serve(t, func(c *httpapi.Config) {
		c.Pages = map[string]http.Handler{"/page": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { panic(errSecret) })}
	})
	a, err := roundTrip(s.address, request("GET", "/page", ""))
	noError(t, err)
	a.is(t, 500, "internal_error")
}

func TestPagesNeedNoKeyAndAreNotCounted(t *testing.T) {
	s := serve(t, func(c *httpapi.Config) {
		c.Pages = map[string]http.Handler{"/page": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("a page")) })}
	})
	for range 3 {
		a := s.get("", "/page")
		if a.status != 200 || a.body != "a page" {
			t.Errorf("got\n%s", a.raw)
		}
		a.has(t, "X-RateLimit-Limit", "")
		a = s.send(request("HEAD", "/page", ""))
		a.is(t, 200, "")
		a.has(t, "Content-Length", "6")
	}
	a := s.send(withBody(request("POST", "/page", ""), "{}"))
	a.is(t, 405, "method_not_allowed")
	a.has(t, "Allow", "GET, HEAD, OPTIONS")
	a.hasLimits(t, 1000, 999, noon.Add(time.Minute))
	a = s.send(request("OPTIONS", "/page", ""))
	a.is(t, 204, "")
	a.has(t, "Allow", "GET, HEAD, OPTIONS")
	s.get("", "/page/").is(t, 404, "not_found")
}

// A client may send its body as slowly as it likes without keeping other clients out.
func TestSlowBodyTakesNoSlot(t *testing.T) {
	s := serve(t, func(c *httpapi.Config) { c.MaxWorking = 1 })
	key := s.key(petstore.Enterprise)
	slow := dial(t, s.address)
	io.WriteString(slow, request("POST", "/v1/pets", key, "Content-Type: application/json", "Content-Length: 29", "Expect: 100-continue"))
	if line, err := bufio.NewReader(slow).ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("the server does not wait for the body: %q, %v", line, err)
	}
	s.get(key, "/v1/pets").is(t, 200, "")
}

// A client that hangs up is not the service's fault, and operators need no alert about it.
func TestClientThatHangsUpIsNotLoggedAsAnError(t *testing.T) {
	storage := openHooked(t)
	s := serve(t, on(storage))
	key := s.key(petstore.Enterprise)
	working := make(chan struct{})
	storage.setHook(func(ctx context.Context, call string) error {
		if call != "GetPet" {
			return nil
		}
		close(working)
		<-ctx.Done()
		return petstore.NotDone(ctx.Err())
	})
	conn := dial(t, s.address)
	io.WriteString(conn, request("GET", "/v1/pets/1", key, "X-Request-Id: gone"))
	<-working
	conn.Close()
	if line := s.log.lineOf("gone"); !strings.Contains(line, `"status":499`) || !strings.Contains(line, `"level":"INFO"`) {
		t.Errorf("the log says %s", line)
	}
}
