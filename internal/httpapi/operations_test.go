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

func TestNextPageExampleOfTheDocumentIsReal(t *testing.T) {
	document, err := openapi3.NewLoader().LoadFromData(api.YAML)
	noError(t, err)
	q := petstore.PetQuery{Limit: 20, Status: petstore.Available}
	if got, want := document.Components.Headers["NextPage"].Value.Example, newLinks("").nextPets(q, 41); got != want {
		t.Errorf("the document has %v, want %s", got, want)
	}
}
