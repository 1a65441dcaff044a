package clienttest

import (
	"bufio"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"petstore/client"
)

// The test gives the client recorded answers of the service. The client must understand every answer.
func TestTheClientReadsEveryRecordedAnswer(t *testing.T) {
	files, err := filepath.Glob("../httpapi/testdata/exchanges/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no exchanges: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		noError(t, err)
		for _, talk := range strings.Split("\n"+string(text), "\n== ")[1:] {
			title, rest, _ := strings.Cut(talk, "\n")
			_, rest, _ = strings.Cut(rest, "-- request\n")
			request, response, _ := strings.Cut(rest, "\n-- response\n")
			if method, _, _ := strings.Cut(request, " "); method == http.MethodHead || method == http.MethodOptions {
				continue // the client has no such operation
			}
			t.Run(filepath.Base(file)+"/"+title, func(t *testing.T) { play(t, request, response) })
		}
	}
}

// recorded is a transport that answers every request with the same text.
type recorded string

func (text recorded) RoundTrip(r *http.Request) (*http.Response, error) {
	head, body, _ := strings.Cut(string(text), "\n\n")
	wire := strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + strings.TrimRight(body, "\n")
	return http.ReadResponse(bufio.NewReader(strings.NewReader(wire)), r)
}

// examples replaces what recorded answers leave out because it differs from run to run. Each example is as long as the real
// thing, because the recorded answers have a Content-Length.
var examples = strings.NewReplacer("{time}", "2026-11-15T12:00:00.123Z", "{token}", "0123456789abcdef0123456789abcdef",
	"{secret}", "pets_live_"+strings.Repeat("0", 33), "{feed}", "4f7k", "{whsec}", "whsec_"+strings.Repeat("0", 43)+"=",
	"{delivery}", "dlv_"+strings.Repeat("0", 24), "{ping}", "ping_"+strings.Repeat("0", 24))

// keyInBraces is the id of a key in a recorded answer, and hookInBraces the id of a webhook.
var (
	keyInBraces  = regexp.MustCompile(`\{key\d+\}`)
	hookInBraces = regexp.MustCompile(`\{hook\d+\}`)
)

func play(t *testing.T, request, response string) {
	response = keyInBraces.ReplaceAllString(examples.Replace(response), "key_000000000")
	response = hookInBraces.ReplaceAllString(response, "wh_"+strings.Repeat("0", 24))
	want, err := recorded(response).RoundTrip(nil)
	noError(t, err)
	defer want.Body.Close()
	_, body, _ := strings.Cut(strings.TrimRight(response, "\n"), "\n\n")
	method, target, _ := strings.Cut(request, " ")
	store := newClient(t, "http://petstore.test", "secret", client.WithHTTPClient(&http.Client{Transport: recorded(response)}), client.WithoutRetries())
	var meta client.Meta
	got, more, err := ask(t, store, method, target, client.WithMeta(&meta))

	if meta.Status != want.StatusCode || meta.RequestID != want.Header.Get("X-Request-Id") || meta.Replayed != (want.Header.Get("Idempotency-Replayed") != "") {
		t.Errorf("the answer is read as %+v", meta)
	}
	limits := client.Limits{Limit: number(want, "X-RateLimit-Limit"), Remaining: number(want, "X-RateLimit-Remaining"), Reset: time.Unix(number(want, "X-RateLimit-Reset"), 0)}
	if meta.Limits != limits {
		t.Errorf("the limits are read as %+v, want %+v", meta.Limits, limits)
	}
	if want.StatusCode < 300 {
		if _, raw := got.([]client.Event); !raw {
			body = strings.ReplaceAll(body, `"/photos/`, `"http://petstore.test/photos/`) // the client completes these addresses
		}
		if again, _ := json.Marshal(got); err != nil || want.StatusCode != http.StatusNoContent && string(again) != body {
			t.Errorf("the body is read as %s, %v; want %s", again, err, body)
		}
		if more != strings.Contains(want.Header.Get("Link"), `rel="next"`) {
			t.Errorf("another page follows: %v, in\n%s", more, response)
		}
		return
	}
	var e *client.Error
	wanted := client.Error{Status: want.StatusCode, RequestID: meta.RequestID, RetryAfter: time.Duration(number(want, "Retry-After")) * time.Second}
	json.Unmarshal([]byte(body), &wanted)
	if !errors.As(err, &e) || *e != wanted || !errors.Is(err, wanted.Code) {
		t.Errorf("the refusal is read as %+v, want %+v", e, wanted)
	}
}

// ask calls the operation of a recorded request. If the request matches no operation, ask calls an arbitrary operation.
func ask(t *testing.T, store *client.Client, method, target string, meta client.CallOption) (got any, more bool, err error) {
	target, _, _ = strings.Cut(target, " ")
	path, _, _ := strings.Cut(strings.TrimPrefix(target, "/v1/"), "?")
	steps := strings.Split(path, "/")
	for i := 1; i < len(steps); i += 2 {
		steps[i] = "" // an id
	}
	ctx := t.Context()
	call := map[string]func(){
		"POST pets":                func() { got, err = store.CreatePet(ctx, client.NewPet{}, meta) },
		"PATCH pets/":              func() { got, err = store.UpdatePet(ctx, 1, client.PetPatch{}, meta) },
		"GET pets/":                func() { got, err = store.GetPet(ctx, 1, meta) },
		"GET pets//profile":        func() { got, err = store.GetProfile(ctx, 1, meta) },
		"PATCH pets//profile":      func() { got, err = store.UpdateProfile(ctx, 1, client.ProfilePatch{}, meta) },
		"POST pets//photos":        func() { got, err = store.AddPhoto(ctx, 1, strings.NewReader("a photo"), meta) },
		"POST pets//photos//cover": func() { got, err = store.CoverPhoto(ctx, 1, 1, meta) },
		"DELETE pets//photos/":     func() { err = store.DeletePhoto(ctx, 1, 1, meta) },
		"GET inventory":            func() { got, err = store.GetInventory(ctx, meta) },
		"GET categories":           func() { got, more, err = listed(store.ListCategories(ctx, client.CategoryQuery{}, meta)) },
		"POST categories":          func() { got, err = store.CreateCategory(ctx, "", meta) },
		"GET categories/":          func() { got, err = store.GetCategory(ctx, 1, meta) },
		"PUT categories/":          func() { got, err = store.NameCategory(ctx, 1, "", meta) },
		"DELETE categories/":       func() { err = store.DeleteCategory(ctx, 1, meta) },
		"GET orders":               func() { got, more, err = listed(store.ListOrders(ctx, client.OrderQuery{}, meta)) },
		"POST orders":              func() { got, err = store.PlaceOrder(ctx, client.NewOrder{}, meta) },
		"GET orders/":              func() { got, err = store.GetOrder(ctx, 1, meta) },
		"PATCH orders/":            func() { got, err = store.UpdateOrder(ctx, 1, client.OrderPatch{}, meta) },
		"POST orders//complete":    func() { got, err = store.CompleteOrder(ctx, 1, meta) },
		"POST orders//cancel":      func() { got, err = store.CancelOrder(ctx, 1, meta) },
		"GET key":                  func() { got, err = store.GetOwnKey(ctx, meta) },
		"GET key/":                 func() { got, err = store.GetOwnUsage(ctx, 0, meta) },
		"GET keys":                 func() { got, more, err = listed(store.ListKeys(ctx, client.KeyQuery{}, meta)) },
		"POST keys":                func() { got, err = store.CreateKey(ctx, client.NewKey{}, meta) },
		"GET keys/":                func() { got, err = store.GetKey(ctx, "", meta) },
		"PATCH keys/":              func() { got, err = store.UpdateKey(ctx, "", client.KeyPatch{}, meta) },
		"POST keys//rotate":        func() { got, err = store.RotateKey(ctx, "", client.Rotation{}, meta) },
		"POST keys//revoke":        func() { got, err = store.RevokeKey(ctx, "", meta) },
		"POST keys//unban":         func() { got, err = store.UnbanKey(ctx, "", meta) },
		"GET keys//usage":          func() { got, err = store.GetKeyUsage(ctx, "", 0, meta) },
		"GET events":               func() { got, more, err = listedEvents(store.ListEvents(ctx, client.EventQuery{}, meta)) },
		"GET webhooks":             func() { got, more, err = listed(store.ListWebhooks(ctx, client.WebhookQuery{}, meta)) },
		"POST webhooks":            func() { got, err = store.CreateWebhook(ctx, client.NewWebhook{}, meta) },
		"GET webhooks/":            func() { got, err = store.GetWebhook(ctx, "", meta) },
		"PATCH webhooks/":          func() { got, err = store.UpdateWebhook(ctx, "", client.WebhookPatch{}, meta) },
		"DELETE webhooks/":         func() { err = store.DeleteWebhook(ctx, "", meta) },
		"POST webhooks//rotate":    func() { got, err = store.RotateWebhook(ctx, "", meta) },
		"POST webhooks//ping":      func() { got, err = store.PingWebhook(ctx, "", meta) },
		"GET webhooks//deliveries": func() { got, more, err = listed(store.ListDeliveries(ctx, "", client.DeliveryQuery{}, meta)) },
		"GET store":                func() { got, err = store.GetStore(ctx, meta) },
	}
	switch known := call[method+" "+strings.Join(steps, "/")]; {
	case known != nil:
		known()
	case method == http.MethodGet:
		got, more, err = listed(store.ListPets(ctx, client.PetQuery{}, meta))
	default:
		err = store.DeletePet(ctx, 1, meta)
	}
	return got, more, err
}

func listed[T any](page client.Page[T], err error) (any, bool, error) {
	return page.Items, page.Next != "", err
}

func listedEvents(page client.EventPage, err error) (any, bool, error) {
	return page.Items, page.Next != "", err
}

func number(res *http.Response, header string) int64 {
	n, _ := strconv.ParseInt(res.Header.Get(header), 10, 64)
	return n
}
