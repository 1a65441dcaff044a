package clienttest

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"petstore/client/webhook"
	"petstore/internal/petstore"
)

func TestSignaturesAreThoseOfStandardWebhooks(t *testing.T) {
	secret, rotated := petstore.NewWebhookSecret(), petstore.NewWebhookSecret()
	now, body := time.Now(), []byte(`{"id":"evt_4f7k_1","name":"Zoë"}`)
	header := http.Header{}
	header.Set(webhook.IDHeader, "evt_4f7k_1")
	header.Set(webhook.TimestampHeader, strconv.FormatInt(now.Unix(), 10))
	header.Set(webhook.SignatureHeader, webhook.Sign(rotated, "evt_4f7k_1", now, body)+" "+webhook.Sign(secret, "evt_4f7k_1", now, body))
	for _, secret := range []string{secret, rotated} {
		standard, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		if err := standard.Verify(body, header); err != nil {
			t.Errorf("the library of Standard Webhooks refuses our signature: %v", err)
		}
		theirs, err := standard.Sign("evt_4f7k_1", now, body)
		if err != nil {
			t.Fatal(err)
		}
		header := header.Clone()
		header.Set(webhook.SignatureHeader, theirs)
		if err := webhook.Verify(header, body, secret); err != nil {
			t.Errorf("the signature of the library is refused: %v", err)
		}
	}
	other, err := standardwebhooks.NewWebhook(petstore.NewWebhookSecret())
	if err != nil {
		t.Fatal(err)
	}
	if other.Verify(body, header) == nil {
		t.Error("the library accepts a signature by another secret")
	}
}
