package history

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"petstore/internal/model"
)

// actions are the requests that workers send. The weight says how often workers send an action, compared with the others. A
// word in braces stands for a value; see [worker.value].
var actions = []struct {
	weight       int
	method, path string
	body         string
}{
	{7, "POST", "/v1/pets", `{"name":"{new}","categoryId":{number}}`},
	{3, "POST", "/v1/pets", `{"name":"{new}","categoryId":{number},"status":"{status}"}`},
	{12, "GET", "/v1/pets/{pet}", ""},
	{4, "GET", "/v1/pets?id={pet}", ""},
	{2, "GET", "/v1/pets?id={pet}&status={status}", ""},
	{2, "GET", "/v1/pets?limit={limit}", ""},
	{2, "GET", "/v1/pets?limit={limit}&status={status}", ""},
	{5, "GET", "{next}", ""},
	{5, "PATCH", "/v1/pets/{pet}", `{"name":"{new}"}`},
	{6, "PATCH", "/v1/pets/{pet}", `{"name":"{new}","status":"{status}"}`},
	{2, "PATCH", "/v1/pets/{pet}", `{"name":"{new}","status":"available","categoryId":{number}}`},
	{6, "DELETE", "/v1/pets/{unwanted}", ""},
	{5, "GET", "/v1/inventory", ""},
	{3, "POST", "/v1/orders", `{"petId":{pet},"reference":"{new}"}`},
	{7, "POST", "/v1/orders", `{"petId":{pet},"reference":"{new}","holdSeconds":{hold}}`},
	{4, "PATCH", "/v1/orders/{order}", `{"reference":"{new}"}`},
	{1, "PATCH", "/v1/orders/{order}", `{"reference":null}`},
	{6, "PATCH", "/v1/orders/{order}", `{"reference":"{new}","holdSeconds":{hold}}`},
	{7, "POST", "/v1/orders/{order}/complete", ""},
	{7, "POST", "/v1/orders/{order}/cancel", ""},
	{5, "GET", "/v1/orders/{order}", ""},
	{1, "GET", "/v1/orders?limit={limit}", ""},
	{1, "GET", "/v1/orders?limit={limit}&petId={pet}", ""},
	{1, "GET", "/v1/orders?limit={limit}&status={orderStatus}", ""},
	{1, "GET", "/v1/orders?limit={limit}&petId={pet}&status={orderStatus}", ""},
	{3, "POST", "/v1/categories", `{"name":"{new}"}`},
	{3, "DELETE", "/v1/categories/{made}", ""},
	{3, "PUT", "/v1/categories/{category}", `{"name":"{new}"}`},
	{1, "PUT", "/v1/categories/{category}", `{"name":"{taken}"}`},
	{2, "DELETE", "/v1/categories/{category}", ""},
	{2, "GET", "/v1/categories/{category}", ""},
	{2, "GET", "/v1/categories?limit={limit}", ""},
	{5, "GET", "{feed}", ""},
	{1, "GET", "{feed}&types=order.*,pet.deleted", ""},
	{1, "GET", "/v1/events?petId={pet}", ""},
	{1, "GET", "/v1/events?limit={limit}&after=now", ""},
}

var placeholder = regexp.MustCompile(`\{\w+\}`)

// act sends a random action. If there is no value for a word in that action, act sends the first action instead. If there
// are too many animals, act also deletes one.
func (w *worker) act(ctx context.Context) {
	total := 0
	for _, a := range actions {
		total += a.weight
	}
	at, chosen := w.random.IntN(total), actions[0]
	for _, a := range actions {
		if at -= a.weight; at < 0 {
			chosen = a
			break
		}
	}
	path, ok := w.fill(chosen.path)
	body, bodyOK := w.fill(chosen.body)
	if !ok || !bodyOK {
		chosen = actions[0]
		path = chosen.path
		body, _ = w.fill(chosen.body)
	}
	w.perform(ctx, chosen.method, path, body)
	if w.known.isCrowded() {
		path, _ := w.fill("/v1/pets/{unwanted}")
		w.perform(ctx, http.MethodDelete, path, "")
	}
}

// fill replaces the words in braces with values. It returns false if a word has no value.
func (w *worker) fill(text string) (filled string, ok bool) {
	ok = true
	return placeholder.ReplaceAllStringFunc(text, func(word string) string {
		value, found := w.value(strings.Trim(word, "{}"))
		ok = ok && found
		return fmt.Sprint(value)
	}), ok
}

// value returns a value for a word in an action.
func (w *worker) value(word string) (value any, ok bool) {
	switch word {
	case "new": // a name that no other request uses
		w.named++
		return fmt.Sprintf("%x-%d-%d", w.load.Seed, w.id, w.named), true
	case "number":
		return w.random.IntN(5), true
	case "status":
		return oneOf(w, model.PetStatuses), true
	case "orderStatus":
		return oneOf(w, model.OrderStatuses), true
	case "hold":
		return oneOf(w, []int{60, 90, 3600}), true
	case "limit":
		return oneOf(w, []int{2, 3, 20, 100}), true
	case "next":
		return w.next, w.next != ""
	case "feed":
		return w.feed, true
	}
	return w.known.value(w, word)
}

// perform sends a request. Half of the writes have an Idempotency-Key; perform repeats them until they are answered. After
// half of those it sends one of the latest again, which others may have overwritten since. After half of all writes it reads
// what was written. If the outcome of a write is unknown, it reads twice.
func (w *worker) perform(ctx context.Context, method, path, body string) {
	op, _ := model.Parse(model.Exchange{Client: w.id, Key: w.key, Method: method, Path: path, Body: []byte(body)})
	if op == nil { // the model does not know the feed
		w.readFeed(ctx, path)
		return
	}
	switch {
	case method != http.MethodGet && w.chance(50):
		op.IdempotencyKey, _ = w.fill("{new}")
		op.Exchange = w.insist(ctx, op.Exchange)
		w.sent = append(w.sent[max(0, len(w.sent)-manyRepeats+1):], op.Exchange)
		if w.chance(50) {
			op.Exchange = w.send(ctx, oneOf(w, w.sent))
		}
	case op.IsFinal():
		op.Exchange = w.insist(ctx, op.Exchange)
	default:
		op.Exchange = w.send(ctx, op.Exchange)
	}
	if op.Name == "listPets" {
		w.next = model.NextPage(op.Header)
	}
	done, ok := model.Parse(op.Exchange)
	for i := range 2 {
		if ok && method != http.MethodGet && done.ID != 0 && (done.Unknown || i == 0 && w.chance(50)) {
			w.get(ctx, fmt.Sprintf("/v1/%s/%d", done.Noun, done.ID))
		}
	}
}

// readFeed reads a page of the feed. If it is the page that follows those that the worker has read, the worker continues
// behind it.
func (w *worker) readFeed(ctx context.Context, path string) model.Exchange {
	answer := w.get(ctx, path)
	if answer.Status == http.StatusOK && path == w.feed {
		w.feed = model.NextPage(answer.Header)
	}
	return answer
}
