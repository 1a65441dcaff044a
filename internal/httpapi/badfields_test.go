package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"petstore/internal/petstore"
)

// operationsWithBody are operations that need a body, except createPet. Each row has a body that the operation accepts.
var operationsWithBody = []struct{ name, method, target, good string }{
	{"updatePet", "PATCH", "/v1/pets/1", `{"name":"Rex"}`},
	{"createCategory", "POST", "/v1/categories", `{"name":"Dogs"}`},
	{"nameCategory", "PUT", "/v1/categories/7", `{"name":"Cats"}`},
	{"placeOrder", "POST", "/v1/orders", `{"petId":1}`},
	{"createKey", "POST", "/v1/keys", `{"name":"ci"}`},
	{"updateKey", "PATCH", "/v1/keys/" + rexKey, `{"name":"rex"}`},
}

// rexKey is the id of the key that serveRex creates for changes.
const rexKey = "key_000000Rex"

// badFields has bodies with a faulty or missing field for these operations, and what the refusal says about that field.
var badFields = map[string][]struct{ body, says string }{
	"updatePet": {
		{`{"name":null}`, "name must be a string."},
		{`{"categoryId":null}`, "categoryId " + whole},
		{`{"status":null}`, "status must be one of available, pending, sold."},
		{`{"name":null,"categoryId":null,"status":null}`, "name must be a string; categoryId must be"},
		{`{"name":1}`, "name must be a string."},
		{`{"name":["Rex"]}`, "name must be a string."},
		{`{"name":{}}`, "name must be a string."},
		{`{"name":""}`, "name must not be empty."},
		{`{"name":" \u3000"}`, "name must not be only white space."},
		{`{"name":"R\u0000x"}`, "name must not contain the character U+0000."},
		{`{"name":"` + strings.Repeat("é", 1001) + `"}`, "name must be at most 1,000 characters long."},
		{`{"categoryId":"1"}`, "categoryId " + whole},
		{`{"categoryId":1.5}`, "categoryId " + whole},
		{`{"categoryId":9223372036854775808}`, "categoryId " + whole},
		{`{"categoryId":1e999999999}`, "categoryId " + whole},
		{`{"status":"lost"}`, "status must be one of available, pending, sold."},
		{`{"status":"Sold"}`, "status must be one of available, pending, sold."},
		{`{"status":3}`, "status must be one of available, pending, sold."},
		{`{"name":"Good","status":"bad"}`, "status must be one of available, pending, sold."},
	},
	"createCategory": badNames,
	"nameCategory":   badNames,
	"createKey": append([]struct{ body, says string }{
		{`{"plan":"pro"}`, "name is required."},
		{`{"name":"ci","expiresAt":null}`, "expiresAt must be a time, such as 2027-01-31T12:00:00Z."},
		{`{"name":"ci","plan":"enterprise","perMinute":1}`, "perMinute and perDay must both be given with the plan enterprise."},
	}, append(badNames, badKeyFields...)...),
	"updateKey": append([]struct{ body, says string }{
		{`{"name":null}`, "name must be a string."},
		{`{"name":" "}`, "name must not be only white space."},
		{`{"plan":"enterprise","perDay":9}`, "perMinute and perDay must both be given with the plan enterprise."},
	}, badKeyFields...),
	"placeOrder": {
		{`{}`, "petId is required."},
		{`{"reference":"Ann"}`, "petId is required."},
		{`{"PetId":1,"petid":1,"pet_id":1}`, "petId is required."},
		{`{"reference":null}`, "petId is required; reference must be a string."},
		{`{"petId":null}`, "petId " + whole},
		{`{"petId":"1"}`, "petId " + whole},
		{`{"petId":1.5}`, "petId " + whole},
		{`{"petId":[1]}`, "petId " + whole},
		{`{"petId":{"id":1}}`, "petId " + whole},
		{`{"petId":true}`, "petId " + whole},
		{`{"petId":9223372036854775808}`, "petId " + whole},
		{`{"petId":99}`, "petId must be the id of an animal; there is no animal 99."},
		{`{"petId":0}`, "there is no animal 0."},
		{`{"petId":-1}`, "there is no animal -1."},
		{`{"petId":1,"reference":null}`, "reference must be a string."},
		{`{"petId":1,"reference":7}`, "reference must be a string."},
		{`{"petId":1,"reference":""}`, "reference must not be empty."},
		{`{"petId":1,"reference":"\t"}`, "reference must not be only white space."},
		{`{"petId":1,"reference":"\u0000"}`, "reference must not contain the character U+0000."},
		{`{"petId":1,"reference":"` + strings.Repeat("🐕", 201) + `"}`, "reference must be at most 200 characters long."},
		{`{"petId":1,"holdSeconds":null}`, "holdSeconds " + seconds},
		{`{"petId":1,"holdSeconds":"60"}`, "holdSeconds " + seconds},
		{`{"petId":1,"holdSeconds":"1h"}`, "holdSeconds " + seconds},
		{`{"petId":1,"holdSeconds":true}`, "holdSeconds " + seconds},
		{`{"petId":1,"holdSeconds":[60]}`, "holdSeconds " + seconds},
		{`{"petId":1,"holdSeconds":59}`, "holdSeconds " + seconds},
		{`{"petId":1,"holdSeconds":60.5}`, "holdSeconds " + seconds},
		{`{"petId":1,"holdSeconds":0}`, "holdSeconds " + seconds},
		{`{"petId":1,"holdSeconds":-60}`, "holdSeconds " + seconds},
		{`{"petId":1,"holdSeconds":2592001}`, "holdSeconds " + seconds},
		{`{"petId":1,"holdSeconds":9223372036854775807}`, "holdSeconds " + seconds},
		{`{"petId":1,"holdSeconds":1e999999999}`, "holdSeconds " + seconds},
		{`{"petId":1,"holdSeconds":18446744073709551676}`, "holdSeconds " + seconds}, // 2^64 + 60, which would overflow to 60
	},
}

// badKeyFields are faults in the fields that createKey and updateKey have in common. The name is valid.
var badKeyFields = []struct{ body, says string }{
	{`{"name":"ci","plan":null}`, "plan must be one of free, pro, business, enterprise."},
	{`{"name":"ci","plan":"Pro"}`, "plan must be one of free, pro, business, enterprise."},
	{`{"name":"ci","plan":["pro"]}`, "plan must be one of free, pro, business, enterprise."},
	{`{"name":"ci","access":null}`, "access must be one of read, write, admin."},
	{`{"name":"ci","access":"root"}`, "access must be one of read, write, admin."},
	{`{"name":"ci","perMinute":null}`, "perMinute " + limits},
	{`{"name":"ci","plan":"enterprise","perMinute":0,"perDay":9}`, "perMinute " + limits},
	{`{"name":"ci","plan":"enterprise","perMinute":-1,"perDay":9}`, "perMinute " + limits},
	{`{"name":"ci","plan":"enterprise","perMinute":"1","perDay":9}`, "perMinute " + limits},
	{`{"name":"ci","plan":"enterprise","perMinute":1,"perDay":9007199254740992}`, "perDay " + limits},
	{`{"name":"ci","plan":"enterprise","perMinute":1,"perDay":18446744073709551617}`, "perDay " + limits}, // 2^64 + 1, which would overflow to 1
	{`{"name":"ci","perMinute":1,"perDay":9}`, "perMinute and perDay can be given only with the plan enterprise."},
	{`{"name":"ci","expiresAt":""}`, "expiresAt must be a time, such as 2027-01-31T12:00:00Z."},
	{`{"name":"ci","expiresAt":1794744060}`, "expiresAt must be a time, such as 2027-01-31T12:00:00Z."},
	{`{"name":"ci","expiresAt":"2027-02-30T12:00:00Z"}`, "expiresAt must be a time, such as 2027-01-31T12:00:00Z."},
	{`{"name":"ci","expiresAt":"2027-01-31"}`, "expiresAt must be a time, such as 2027-01-31T12:00:00Z."},
	{`{"name":"ci","expiresAt":"2027-01-31T12:00:00"}`, "expiresAt must be a time, such as 2027-01-31T12:00:00Z."},
	{`{"name":"ci","expiresAt":"2027-01-31T1:00:00Z"}`, "expiresAt must be a time, such as 2027-01-31T12:00:00Z."},
	{`{"name":"ci","expiresAt":"2027-01-31T12:00:00+25:00"}`, "expiresAt must be a time, such as 2027-01-31T12:00:00Z."},
	{`{"name":"ci","expiresAt":"2027-01-31T12:00:00,5Z"}`, "expiresAt must be a time, such as 2027-01-31T12:00:00Z."},
	{`{"name":"ci","expiresAt":"2026-11-15T12:00:00Z"}`, "expiresAt must be in the future."},
	{`{"name":"ci","expiresAt":"0001-01-01T00:00:00Z"}`, "expiresAt must be in the future."},
	{`{"name":"ci","expiresAt":"2026-11-15T12:00:00.0009Z"}`, "expiresAt must be in the future."},
	{`{"name":"ci","expiresAt":"9999-12-31T23:59:59.999-23:59"}`, "expiresAt must be before the year 10000."},
}

const (
	limits  = "must be a whole number from 1 to 9007199254740991."
	whole   = "must be a whole number from -9223372036854775808 to 9223372036854775807."
	seconds = "must be a whole number from 60 to 2592000."
)

var badNames = []struct{ body, says string }{
	{`{}`, "name is required."},
	{`{"Name":"Dogs"}`, "name is required."},
	{`{"name":null}`, "name must be a string."},
	{`{"name":1}`, "name must be a string."},
	{`{"name":["Dogs"]}`, "name must be a string."},
	{`{"name":{"en":"Dogs"}}`, "name must be a string."},
	{`{"name":""}`, "name must not be empty."},
	{`{"name":"\u00a0\n"}`, "name must not be only white space."},
	{`{"name":"D\u0000"}`, "name must not contain the character U+0000."},
	{`{"name":"` + strings.Repeat("🐕", 101) + `"}`, "name must be at most 100 characters long."},
}

// serveRex starts a service with one animal and one key to change, and returns the service with an administrator's key.
func serveRex(t *testing.T) (*service, string) {
	t.Helper()
	s := serve(t)
	if _, _, err := s.storage.CreatePet(t.Context(), petstore.NewPet{Name: "Rex", CategoryID: 1, Status: petstore.Available}, nil); err != nil {
		t.Fatal(err)
	}
	key := petstore.NewKey("rex", petstore.Free, petstore.Limits{PerMinute: 60, PerDay: 1000}, noon, petstore.Forever)
	key.ID, key.Owner = rexKey, rexKey
	s.createKey(key)
	secret, _ := s.admin()
	return s, secret
}

// expectOnlyRex fails the test unless the storage has only this animal, unchanged, and no further key.
func (s *service) expectOnlyRex() {
	s.Helper()
	categories, err := s.storage.ListCategories(s.Context(), petstore.CategoryQuery{Limit: 9})
	orders, err2 := s.storage.ListOrders(s.Context(), petstore.OrderQuery{Limit: 9})
	keys, err3 := s.storage.Keys(s.Context())
	pets := s.pets()
	if err3 != nil || len(keys) != 2 {
		s.Errorf("there are %d keys: %v", len(keys), err3)
	}
	if err != nil || err2 != nil || len(categories) > 0 || len(orders) > 0 ||
		len(pets) != 1 || pets[0] != (petstore.Pet{ID: 1, NewPet: petstore.NewPet{Name: "Rex", CategoryID: 1, Status: petstore.Available}}) {
		s.Errorf("stored all the same: %v, %v, %v; %v, %v", pets, categories, orders, err, err2)
	}
}

func TestEveryOperationRefusesABodyThatIsNotAnObject(t *testing.T) {
	s, key := serveRex(t)
	for _, op := range operationsWithBody {
		for _, c := range badBodies["invalid_json"] {
			t.Run(op.name+", "+c.behaviour, func(t *testing.T) {
				s.in(t).send(withBody(request(op.method, op.target, key), c.body)).is(t, 400, "invalid_json")
			})
		}
	}
	s.expectOnlyRex()
}

func TestEveryOperationNamesFaultyFields(t *testing.T) {
	s, key := serveRex(t)
	for _, op := range operationsWithBody {
		for _, c := range badFields[op.name] {
			t.Run(fmt.Sprintf("%s, %.60s", op.name, c.body), func(t *testing.T) {
				code := "invalid_field"
				if strings.Contains(c.says, "is required") {
					code = "missing_field"
				}
				got := s.in(t).send(withBody(request(op.method, op.target, key), c.body))
				got.is(t, 400, code)
				if _, message := got.refusal(); !strings.Contains(message, c.says) {
					t.Errorf("got %q, want %q", message, c.says)
				}
			})
		}
	}
	s.expectOnlyRex()
}

func TestBodiesAtTheirBoundsAreAccepted(t *testing.T) {
	s, key := serveRex(t)
	var ids int64 = 1
	order := func(fields string) (method, target, body string) {
		ids++
		if _, _, err := s.storage.CreatePet(t.Context(), petstore.NewPet{Name: "Max", Status: petstore.Available}, nil); err != nil {
			t.Fatal(err)
		}
		return "POST", "/v1/orders", fmt.Sprintf(`{"petId":%d%s}`, ids, fields)
	}
	for _, fields := range []string{
		``, `,"holdSeconds":60`, `,"holdSeconds":6e1`, `,"holdSeconds":60.0`, `,"holdSeconds":2592000`, `,"reference":"` + strings.Repeat("🐕", 200) + `"`,
		`,"status":"completed","id":9,"expiresAt":null,"unknown":[{}]`,
	} {
		method, target, body := order(fields)
		s.send(withBody(request(method, target, key), body)).is(t, 201, "")
	}
	for _, c := range []struct {
		target, body string
		status       int
	}{
		{"/v1/categories/-9223372036854775808", `{"name":"` + strings.Repeat("🐕", 100) + `"}`, 201},
		{"/v1/categories/9223372036854775807", `{"name":"Cats","id":1,"unknown":null}`, 201},
		{"/v1/categories/9223372036854775807", `{"name":"Cats"}`, 200},
		{"/v1/categories/0", `{"name":" Cats"}`, 201},
		{"/v1/categories/0", `{"name":"cats"}`, 200},
	} {
		s.send(withBody(request("PUT", c.target, key), c.body)).is(t, c.status, "")
	}
	for body, want := range map[string]string{
		`{}`:                                   `{"id":1,"name":"Rex","categoryId":1,"status":"available"}`,
		`{"id":9,"unknown":null,"Status":"x"}`: `{"id":1,"name":"Rex","categoryId":1,"status":"available"}`,
		`{"categoryId":1e2,"status":"sold"}`:   `{"id":1,"name":"Rex","categoryId":100,"status":"sold"}`,
		`{"name":"` + strings.Repeat("é", 1000) + `","categoryId":1,"status":"available"}`: `{"id":1,"name":"` + strings.Repeat("é", 1000) + `","categoryId":1,"status":"available"}`,
	} {
		s.send(withBody(request("PATCH", "/v1/pets/1", key), `{"name":"Rex","categoryId":1,"status":"available"}`)).is(t, 200, "")
		got := s.send(withBody(request("PATCH", "/v1/pets/1", key), body))
		if got.is(t, 200, ""); got.body != want {
			t.Errorf("%.80s gives %.200s, want %.200s", body, got.body, want)
		}
	}
}

func TestEveryOperationChecksTheMediaType(t *testing.T) {
	s, key := serveRex(t)
	for _, op := range operationsWithBody {
		for media, taken := range map[string]bool{
			"application/json":                           true,
			"application/json; charset=utf-8":            true,
			"application/merge-patch+json":               true,
			"Application/Merge-Patch+JSON;charset=utf-8": true,
			"":                                  true,
			"application/vnd.pets+json":         op.method != "PATCH",
			"application/json-patch+json":       op.method != "PATCH",
			"text/plain":                        false,
			"application/xml":                   false,
			"merge-patch+json":                  false,
			"application/x-www-form-urlencoded": false,
		} {
			got := s.send(withBody(request(op.method, op.target, key, "Content-Type: "+media), `{"`))
			if want := map[bool]int{true: 400, false: 415}[taken]; got.status != want {
				t.Errorf("%s as %q: %d, want %d", op.name, media, got.status, want)
			}
		}
		got := s.send(withBody(request(op.method, op.target, key, "Content-Encoding: gzip"), op.good))
		got.is(t, 415, "unsupported_media_type")
	}
	s.expectOnlyRex()
}

func TestEveryOperationRefusesABodyOverOneMebibyte(t *testing.T) {
	s, key := serveRex(t)
	for _, op := range operationsWithBody {
		fitting, tooLarge := op.good+strings.Repeat(" ", 1<<20-len(op.good)), op.good+strings.Repeat(" ", 1<<20+1-len(op.good))
		s.send(withBody(request(op.method, op.target, key), tooLarge)).is(t, 413, "payload_too_large")
		if got := s.send(withBody(request(op.method, op.target, key), fitting)); got.status >= 300 {
			t.Errorf("%s with a body of 1 MiB: %s", op.name, got.raw)
		}
	}
	for _, target := range []string{"/v1/orders/1/cancel", "/v1/orders/1/cancel"} {
		s.send(withBody(request("POST", target, key, "Content-Type: text/plain"), strings.Repeat("x", 1<<20+1))).is(t, 413, "payload_too_large")
		s.send(withBody(request("POST", target, key, "Content-Type: text/plain", "Content-Encoding: gzip"), strings.Repeat("x", 1<<20))).is(t, 200, "")
		s.send(request("POST", target, key)).is(t, 200, "")
	}
}
