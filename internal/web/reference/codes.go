package reference

import (
	"encoding/json"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"petstore/internal/petstore"
)

// code is an error code, with advice for clients that get the code.
type code struct {
	Name     string
	Statuses string
	Advice   template.HTML
}

// advice says what to do about each code. A test checks that the map has every code in the document.
var advice = map[string]string{
	"bad_request":            "The request is not HTTP as it should be. Check how its path is encoded, and its headers.",
	"invalid_json":           "Send one JSON object, each field once, nothing after it. Do not retry the same body.",
	"invalid_field":          "Correct the fields that `message` names. Do not retry the same body.",
	"missing_field":          "Add the fields that `message` names.",
	"invalid_parameter":      "Correct the parameter or header that `message` names, and give it only once.",
	"unauthorized":           "Send `Authorization: Bearer` with a whole, valid key of this environment. The same key again does not help.",
	"forbidden":              "The access of this key is too low. Use one that may write, or an administrator's key, as `message` says.",
	"not_found":              "Check the path and the id. What was deleted does not come back.",
	"method_not_allowed":     "Use one of the methods that the `Allow` header names.",
	"gone":                   "The operation was removed. Use its replacement.",
	"idempotency_conflict":   "This `Idempotency-Key` belongs to another request. Use a fresh one for each new request, and repeat one only with the same request.",
	"pet_reserved":           "An open order holds the animal. Complete or cancel the order that `message` names, or wait until it expires.",
	"pet_unavailable":        "Somebody else was faster. Choose an animal that is `available`.",
	"order_closed":           "The order has already ended. Read it to see how; place a new one if you still need the animal.",
	"name_taken":             "Use the category that already has this name, or choose another name.",
	"invalid_photo":          "Send another file, or the same one smaller, as `message` says. Do not retry the same file.",
	"too_many_photos":        "Delete one of the animal's photos first.",
	"key_revoked":            "The key has ended, or another one took its place. Create a key, or use the one that `message` names.",
	"own_key":                "Use another administrator's key. If there is none, create one.",
	"secret_shown":           "The key or webhook that `message` names was made. If you do not have its secret, rotate it.",
	"events_gone":            "Begin at the position that `message` names, and expect a gap; or read the store anew and follow the feed from `after=now`.",
	"too_many_streams":       "Close a stream that you no longer read, share one between the parts of your program, or read pages.",
	"too_many_webhooks":      "Delete a webhook first. One webhook can take the events of several types.",
	"payload_too_large":      "Send a body of at most 1 MiB, or a photo of at most 5 MiB.",
	"unsupported_media_type": "Send the body as plain `application/json`, or a photo as its type of image, without a `Content-Encoding`.",
	"rate_limited":           "Wait as many seconds as `Retry-After` says, and longer after each further refusal.",
	"key_banned":             "Stop. Wait as long as `Retry-After` says, then ask less often: each further ban lasts twice as long.",
	"internal_error":         "Try again later. If it stays, tell the operator the `X-Request-Id` of the answer.",
	"unavailable":            "Nothing was changed. Send the same request again after `Retry-After`.",
	"outcome_unknown":        "It may have been done. Send it again with the same `Idempotency-Key` where there is one; `message` says what is safe.",
}

// codes lists the codes of an API error. It sorts them by the statuses that they have in the document's examples.
func (d *document) codes(operations []operation) []code {
	statuses := make(map[string][]int)
	for _, op := range operations {
		for status, r := range op.Responses {
			number, _ := strconv.Atoi(status)
			for _, m := range r.Content {
				for _, e := range d.examples(m) {
					if name := e.Code(); name != "" && !slices.Contains(statuses[name], number) {
						statuses[name] = append(statuses[name], number)
					}
				}
			}
		}
	}
	var all []code
	for _, value := range d.Components.Schemas["Error"].Properties["code"].Enum {
		name := plain(value)
		all = append(all, code{name, join(statuses[name]), markdown(advice[name])})
	}
	slices.SortStableFunc(all, func(a, b code) int { return strings.Compare(a.Statuses, b.Statuses) })
	return all
}

// errorFields lists the fields of an API error. It leaves out the codes, which have their own table.
func (d *document) errorFields() []field {
	all := markGiven(d.fields(d.Components.Schemas["Error"], 0))
	for i := range all {
		all[i].Enum = nil
	}
	return all
}

// notHTTP lists the statuses that come with the code bad_request. Requests that match no operation get this code.
const notHTTP = "400, 417, 431, 501, 505"

// join returns the statuses as a list with commas. If there are none, the code is bad_request, the only one without an
// example, and join returns notHTTP.
func join(statuses []int) string {
	if len(statuses) == 0 {
		return notHTTP
	}
	slices.Sort(statuses)
	var words []string
	for _, status := range statuses {
		words = append(words, strconv.Itoa(status))
	}
	return strings.Join(words, ", ")
}

// Code returns the error code of an example, or "" if the example is not an error.
func (e example) Code() string { return e.read().Code }

// Message returns the message of an example, or "" if the example is not an error.
func (e example) Message() string { return e.read().Message }

func (e example) read() (failure struct{ Code, Message string }) {
	json.Unmarshal(e.Value, &failure) // leaves failure empty for examples that are not errors
	return failure
}

// plan says how many requests a key may send.
type plan struct{ Name, PerMinute, PerDay string }

func plans() []plan {
	var all []plan
	for _, p := range []petstore.Plan{petstore.Free, petstore.Pro, petstore.Business} {
		limits, _ := p.Limits(0, 0) // only Enterprise uses the two arguments
		all = append(all, plan{capital(string(p)), thousands(limits.PerMinute), thousands(limits.PerDay)})
	}
	return append(all, plan{"Enterprise", "as agreed", "as agreed"})
}
