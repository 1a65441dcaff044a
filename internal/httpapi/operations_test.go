package httpapi

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"petstore/api"
	"petstore/internal/petstore"
)

func TestRouteTableAndDocumentNameTheSameOperations(t *testing.T) {
	document, err := openapi3.NewLoader().LoadFromData(api.YAML)
	noError(t, err)
	var described, routed []string
	for path, item := range document.Paths.Map() {
		for method, op := range item.Operations() {
			described = append(described, fmt.Sprintf("%s: %s %s, deprecated %v", op.OperationID, method, document.Servers[0].URL+path, op.Deprecated))
		}
	}
	for _, op := range operations {
		routed = append(routed, fmt.Sprintf("%s: %s %s, deprecated %v", op.name, op.method, op.path, op.deprecated))
	}
	slices.Sort(described)
	slices.Sort(routed)
	if !slices.Equal(described, routed) {
		t.Errorf("the document has\n\t%s\nthe route table has\n\t%s", strings.Join(described, "\n\t"), strings.Join(routed, "\n\t"))
	}
}

func TestDocumentSaysWhichOperationsNeedAnAdministrator(t *testing.T) {
	document, err := openapi3.NewLoader().LoadFromData(api.YAML)
	noError(t, err)
	for _, op := range operations {
		refusal := document.Paths.Find(strings.TrimPrefix(op.path, "/v1")).GetOperation(op.method).Responses.Value("403")
		described := refusal != nil && strings.HasSuffix(refusal.Ref, "/NotAdministrator")
		if described != op.admin {
			t.Errorf("%s needs an administrator: %v; the document says %v", op.name, op.admin, described)
		}
	}
}

func TestNextPageExampleOfTheDocumentIsReal(t *testing.T) {
	document, err := openapi3.NewLoader().LoadFromData(api.YAML)
	noError(t, err)
	q := petsQuery{PetQuery: petstore.PetQuery{Limit: 20, Status: petstore.Available}}
	if got, want := document.Components.Headers["NextPage"].Value.Example, newLinks("").nextPets(q, 41); got != want {
		t.Errorf("the document has %v, want %s", got, want)
	}
}

func TestPathsAreMatchedExactly(t *testing.T) {
	table := newRouter(operations)
	for path, want := range map[string]string{
		"*":                "",
		"/v1/pets":         "",
		"/v1/pets/7":       "7",
		"/v1/pets/-1":      "-1",
		"/v1/pets/%31":     "%31",
		"/v1/pets/..":      "..",
		"/v1/pets/%2F":     "%2F",
		"/v1/pets/7%2F8":   "7%2F8",
		"/v1/pets/ü":       "ü",
		"/v1/pets/{petId}": "{petId}",

		"/v1/pets/7/profile":          "7",
		"/v1/pets/7/photos":           "7",
		"/v1/pets/7/photos/8":         "7 8",
		"/v1/pets/7/photos/8/cover":   "7 8",
		"/v1/pets/profile/photos/%2F": "profile %2F",

		"/v1/inventory":            "",
		"/v1/categories":           "",
		"/v1/categories/-7":        "-7",
		"/v1/orders":               "",
		"/v1/orders/complete":      "complete",
		"/v1/orders/7/complete":    "7",
		"/v1/orders/7/cancel":      "7",
		"/v1/orders/%2F/cancel":    "%2F",
		"/v1/orders/cancel/cancel": "cancel",

		"/v1/key":                      "",
		"/v1/key/usage":                "",
		"/v1/keys":                     "",
		"/v1/keys/usage":               "usage",
		"/v1/keys/key_000000000":       "key_000000000",
		"/v1/keys/key_000000000/usage": "key_000000000",
		"/v1/keys/7/rotate":            "7",
		"/v1/keys/7/revoke":            "7",
		"/v1/keys/revoke/unban":        "revoke",
		"/v1/store":                    "",
	} {
		if res, values := table.match(path); res == nil || strings.TrimRight(strings.Join(values[:], " "), " ") != want {
			t.Errorf("%s: got %v with %q, want it to match with %q", path, res, values, want)
		}
	}
	for _, path := range []string{
		"", "/", "/v1", "/v1/", "/v1/pets/", "/v1//pets", "//v1/pets", "/v1/./pets", "/v1/../v1/pets", "/v1/pets/7/", "/v1/pets/7/8",
		"/v1/pets//7", "/V1/pets", "/v1/Pets", "/v1/pet", "/v1/petss", "/v1%2Fpets", "/v1/%70ets", "/v1/pets%2F7", "/v1/pets;a=b", "/v2/pets",
		"/v1/orders/", "/v1/orders//cancel", "/v1/orders/7/", "/v1/orders/7/cancel/", "/v1/orders/7/Cancel", "/v1/orders/7/close", "/v1/categories/7/8", "/v1/inventory/",
		"/v1/pets/7/profile/", "/v1/pets//profile", "/v1/pets/7/photos/", "/v1/pets/7/photos//cover", "/v1/pets/7/photos/8/cover/", "/v1/pets/7/photos/8/9",
		"/v1/key/", "/v1/key/key_000000000", "/v1/keys/", "/v1/keys//usage", "/v1/keys/7/usage/", "/v1/keys/7/secret", "/v1/keys/7/rotate/8", "/v1/store/", "/v1/Store",
	} {
		if res, values := table.match(path); res != nil {
			t.Errorf("%s matches %+v with %q", path, res, values)
		}
	}
}
