package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
)

// makeWebhook creates a webhook over the API and returns its id. The test fails if the service ever logs its secret.
func (s *service) makeWebhook(admin, body string) string {
	s.Helper()
	var made struct{ ID, Secret string }
	got := s.send(withBody(request("POST", "/v1/webhooks", admin, "X-Request-Id: made"), body))
	got.is(s.T, 201, "")
	noError(s, json.Unmarshal([]byte(got.body), &made))
	s.log.secrets = append(s.log.secrets, made.Secret)
	return made.ID
}

// The URL of a webhook often contains a secret of its receiver; the test log fails the test if it has one.
func TestEveryChangeOfAWebhookIsOneLineInTheLog(t *testing.T) {
	s := serve(t)
	secret, admin := s.admin()
	s.log.secrets = append(s.log.secrets, "token-of-the-receiver", "path-of-the-receiver")
	id := s.makeWebhook(secret, `{"url":"https://a.example/path-of-the-receiver?t=token-of-the-receiver","types":["pet.*"]}`)
	for range 2 {
		s.send(withBody(request("PATCH", "/v1/webhooks/"+id, secret, "Idempotency-Key: u"), `{"url":"https://b.example:8443/token-of-the-receiver","position":"now"}`)).is(t, 200, "")
	}
	s.send(withBody(request("PATCH", "/v1/webhooks/"+id, secret), `{"url":"ftp://token-of-the-receiver"}`)).is(t, 400, "invalid_field")
	var rotated struct{ Secret string }
	noError(t, json.Unmarshal([]byte(s.send(request("POST", "/v1/webhooks/"+id+"/rotate", secret)).body), &rotated))
	s.log.secrets = append(s.log.secrets, rotated.Secret)
	s.send(request("POST", "/v1/webhooks/"+id+"/ping", secret)).is(t, 200, "")
	for range 2 {
		s.send(request("DELETE", "/v1/webhooks/"+id, secret, "Idempotency-Key: d")).is(t, 204, "")
	}
	found := make(map[string][]map[string]any)
	for line := range strings.Lines(s.log.String()) {
		var fields map[string]any
		noError(t, json.Unmarshal([]byte(line), &fields))
		event := fmt.Sprint(fields["msg"])
		found[event] = append(found[event], fields)
	}
	for event, details := range map[string]map[string]any{
		"webhook created": {"id": "made", "host": "a.example", "types": []any{"pet.*"}},
		"webhook updated": {"host": "b.example:8443", "enabled": true, "changed": []any{"url", "position"}},
		"webhook rotated": {},
		"webhook pinged":  {"answer": 204.0, "error": ""},
		"webhook deleted": {},
	} {
		if len(found[event]) != 1 {
			t.Fatalf("%s is logged %d times:\n%s", event, len(found[event]), s.log)
		}
		line := found[event][0]
		details["level"], details["by"], details["byName"], details["webhook"] = "INFO", admin.ID, "admin", id
		for name, want := range details {
			if fmt.Sprint(line[name]) != fmt.Sprint(want) {
				t.Errorf("%s is logged with %s %v, want %v", event, name, line[name], want)
			}
		}
	}
}

func TestOnlyCreateAndRotateShowASecret(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) {
		s := serve(t, on(open(t)))
		secret, _ := s.admin()
		id := s.makeWebhook(secret, `{"url":"https://a.example/"}`)
		s.send(request("POST", "/v1/webhooks/"+id+"/rotate", secret, "Idempotency-Key: r")).is(t, 200, "")
		for _, raw := range []string{
			request("GET", "/v1/webhooks", secret), request("GET", "/v1/webhooks/"+id, secret),
			withBody(request("PATCH", "/v1/webhooks/"+id, secret), `{}`),
			request("POST", "/v1/webhooks/"+id+"/rotate", secret, "Idempotency-Key: r"),
			request("POST", "/v1/webhooks/"+id+"/ping", secret),
			request("GET", "/v1/webhooks/"+id+"/deliveries", secret),
			request("GET", "/v1/store", secret), request("GET", "/v1/events", secret),
		} {
			if got := s.send(raw).raw; strings.Contains(got, "whsec_") || strings.Contains(got, `"secret"`) {
				t.Errorf("%s\nis answered with a secret:\n%s", raw, got)
			}
		}
	})
}

func TestAPingIsRecordedAlthoughTheClientHasGone(t *testing.T) {
	gone, cancel := context.WithCancel(context.Background())
	s := serve(t, func(c *httpapi.Config) {
		c.Ping = func(_ context.Context, w petstore.Webhook) petstore.Delivery {
			cancel()
			return answerPing(gone, w)
		}
	})
	secret, _ := s.admin()
	id := s.makeWebhook(secret, `{"url":"https://a.example/"}`)
	r := httptest.NewRequestWithContext(gone, "POST", "/v1/webhooks/"+id+"/ping", nil)
	r.Header.Set("Authorization", "Bearer "+secret)
	s.api.ServeHTTP(httptest.NewRecorder(), r)
	webhook, err := s.storage.GetWebhook(t.Context(), id)
	noError(t, err)
	if webhook.Status() != petstore.WebhookActive {
		t.Errorf("the webhook is %s after an answered ping", webhook.Status())
	}
}

func TestCursorsOfWebhooksAndDeliveriesAreOnlyThoseGivenOut(t *testing.T) {
	s := serve(t)
	secret, _ := s.admin()
	id := s.makeWebhook(secret, `{"url":"https://a.example/"}`)
	s.makeWebhook(secret, `{"url":"https://a.example/"}`)
	for range 2 {
		s.send(request("POST", "/v1/webhooks/"+id+"/ping", secret)).is(t, 200, "")
	}
	for _, list := range []string{"/v1/webhooks", "/v1/webhooks/" + id + "/deliveries"} {
		link := s.get(secret, list+"?limit=1").header.Get("Link")
		target, _, _ := strings.Cut(strings.TrimPrefix(link, "<"), ">")
		u, err := url.Parse(target)
		noError(t, err)
		good := u.Query().Get("cursor")
		s.get(secret, list+"?cursor="+good).is(t, 200, "")
		for _, bad := range []string{
			"", "A", good[:len(good)-1], good + "A", good + "=", good + "%0A", "AQ" + good[2:], "BA" + good[2:], strings.Repeat("A", 39), strings.Repeat("A", 48),
			"AQAAAAAAAAAp", good + "&cursor=" + good,
		} {
			s.get(secret, list+"?cursor="+bad).is(t, 400, "invalid_parameter")
		}
	}
}
