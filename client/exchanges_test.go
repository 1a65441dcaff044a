package client_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"petstore/client"
)

// The recorded conversations of the service are played to the client, which must understand every answer in them.
func TestTheClientReadsEveryRecordedAnswer(t *testing.T) {
	files, err := filepath.Glob("../internal/httpapi/testdata/exchanges/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no exchanges: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, talk := range strings.Split("\n"+string(text), "\n== ")[1:] {
			title, rest, _ := strings.Cut(talk, "\n")
			_, rest, _ = strings.Cut(rest, "-- request\n")
			request, response, _ := strings.Cut(rest, "\n-- response\n")
			t.Run(filepath.Base(file)+"/"+title, func(t *testing.T) { hear(t, request, response) })
		}
	}
}

// recorded answers every request with the same text.
type recorded string

func (text recorded) RoundTrip(r *http.Request) (*http.Response, error) {
	head, body, _ := strings.Cut(string(text), "\n\n")
	wire := strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + strings.TrimRight(body, "\n")
	return http.ReadResponse(bufio.NewReader(strings.NewReader(wire)), r)
}

func hear(t *testing.T, request, response string) {
	want, err := recorded(response).RoundTrip(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer want.Body.Close()
	_, body, _ := strings.Cut(strings.TrimRight(response, "\n"), "\n\n")
	method, target, _ := strings.Cut(request, " ")
	if method == http.MethodHead || method == http.MethodOptions {
		t.Skip("the client has no such operation")
	}
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
		if again, _ := json.Marshal(got); err != nil || string(again) != body {
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

// ask calls the operation that a recorded request is of, or for what is none any other.
func ask(t *testing.T, store *client.Client, method, target string, meta client.CallOption) (got any, more bool, err error) {
	_, one := strings.CutPrefix(target, "/v1/pets/")
	switch {
	case method == http.MethodPost:
		got, err = store.CreatePet(t.Context(), client.NewPet{}, meta)
	case method == http.MethodGet && (one || strings.Contains(target, "%37")):
		got, err = store.GetPet(t.Context(), 1, meta)
	case method == http.MethodGet:
		var page client.Page[client.Pet]
		page, err = store.ListPets(t.Context(), client.PetQuery{}, meta)
		got, more = page.Items, page.Next != ""
	default:
		err = store.DeletePet(t.Context(), 1, meta)
	}
	return got, more, err
}

func number(res *http.Response, header string) int64 {
	n, _ := strconv.ParseInt(res.Header.Get(header), 10, 64)
	return n
}
