package webhook

import (
	"bytes"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	secret    = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	id        = "evt_4f7k_1234"
	body      = `{"id":"evt_4f7k_1234","sequence":1234,"type":"pet.created","timestamp":"2026-11-18T00:00:00.000Z","data":{"id":7,"name":"Rex","categoryId":1,"status":"available"}}`
	signature = "v1,4H4zkUZKnrYIsuYcy+GDU7znXLLSykIV05u/Ev3Yoy0="
)

var (
	at    = time.Unix(1794960000, 0)
	other = "whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
)

func TestSignMakesThePublishedSignature(t *testing.T) {
	if got := Sign(secret, id, at, []byte(body)); got != signature {
		t.Errorf("got %s, want %s", got, signature)
	}
	if got := Sign("whsec_?", id, at, []byte(body)); got != "" {
		t.Errorf("a malformed secret signs: %s", got)
	}
}

// headerOf returns the headers of a delivery, changed by pairs of a name and a value. An empty value removes the header.
func headerOf(changes ...string) http.Header {
	h := http.Header{}
	h.Set("webhook-id", id)
	h.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	h.Set("webhook-signature", signature)
	for i := 0; i < len(changes); i += 2 {
		if h.Set(changes[i], changes[i+1]); changes[i+1] == "" {
			h.Del(changes[i])
		}
	}
	return h
}

func TestVerify(t *testing.T) {
	both := Sign(other, id, at, []byte(body)) + " " + signature
	for _, test := range []struct {
		name    string
		now     time.Time
		header  http.Header
		body    string
		secrets []string
		want    error
		says    string
	}{
		{name: "a delivery"},
		{name: "one of two signatures is right", header: headerOf("webhook-signature", both)},
		{name: "one of two secrets is right", secrets: []string{other, secret}},
		{name: "a signature of another version stands beside it", header: headerOf("webhook-signature", "v1a,eA== "+signature)},
		{name: "five minutes later", now: at.Add(Tolerance)},
		{name: "five minutes earlier", now: at.Add(-Tolerance)},
		{name: "too late", now: at.Add(Tolerance + time.Second), want: ErrTimestamp, says: "it is 5m1s old"},
		{name: "too early", now: at.Add(-Tolerance - time.Second), want: ErrTimestamp, says: "it is 5m1s ahead of this clock"},
		{name: "the farthest time", header: headerOf("webhook-timestamp", "-9223372036854775808"), want: ErrTimestamp},
		{name: "another body", body: body + " ", want: ErrSignature, says: "were changed on the way"},
		{name: "another id", header: headerOf("webhook-id", "evt_4f7k_1235"), want: ErrSignature},
		{name: "another time", header: headerOf("webhook-timestamp", "1794960001"), want: ErrSignature},
		{name: "another secret", secrets: []string{other}, want: ErrSignature},
		{name: "a shortened signature", header: headerOf("webhook-signature", "v1,4H4z"), want: ErrSignature},
		{name: "an empty signature", header: headerOf("webhook-signature", "v1,"), want: ErrSignature},
		{name: "no id", header: headerOf("webhook-id", ""), want: ErrHeader, says: "it has no header webhook-id"},
		{name: "no time", header: headerOf("webhook-timestamp", ""), want: ErrHeader, says: "it has no header webhook-timestamp"},
		{name: "no signature", header: headerOf("webhook-signature", ""), want: ErrHeader, says: "it has no header webhook-signature"},
		{name: "no signature of this version", header: headerOf("webhook-signature", "v2,eA== v1"), want: ErrHeader, says: "no signature of version v1"},
		{name: "a time that is no number", header: headerOf("webhook-timestamp", "now"), want: ErrHeader, says: "a number of seconds"},
		{name: "no secret", secrets: []string{}, want: ErrSecret, says: "there is none"},
		{name: "a secret without its prefix", secrets: []string{strings.TrimPrefix(secret, "whsec_")}, want: ErrSecret, says: "whsec_"},
		{name: "an empty secret", secrets: []string{"whsec_"}, want: ErrSecret},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.now.IsZero() {
				test.now = at
			}
			if test.header == nil {
				test.header = headerOf()
			}
			if test.body == "" {
				test.body = body
			}
			if test.secrets == nil {
				test.secrets = []string{secret}
			}
			err := verify(test.now, test.header, []byte(test.body), test.secrets)
			if !errors.Is(err, test.want) || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %v with %q", err, test.want, test.says)
			}
			if err != nil && strings.Contains(err.Error(), "AAECAw") {
				t.Errorf("the error shows the secret: %v", err)
			}
		})
	}
}

// signed returns a request that was signed just now.
func signed(body []byte) *http.Request {
	now := time.Now()
	r := httptest.NewRequest(http.MethodPost, "/hook", bytes.NewReader(body))
	r.Header = headerOf("webhook-timestamp", strconv.FormatInt(now.Unix(), 10), "webhook-signature", Sign(secret, id, now, body))
	return r
}

func TestReadReturnsTheBodyOfADelivery(t *testing.T) {
	largest := bytes.Repeat([]byte("x"), MaxBody)
	if got, err := Read(signed(largest), secret); err != nil || !bytes.Equal(got, largest) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	if got, err := Read(signed(largest), other); !errors.Is(err, ErrSignature) || got != nil {
		t.Errorf("with another secret: got %d bytes, %v", len(got), err)
	}
	if got, err := Read(signed(append(largest, 'x')), secret); !errors.Is(err, ErrTooLarge) || got != nil {
		t.Errorf("of a body that is too large: got %d bytes, %v", len(got), err)
	}
}
