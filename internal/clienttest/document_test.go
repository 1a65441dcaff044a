package clienttest

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"petstore/api"
	"petstore/client"
)

func TestEveryOperationOfTheDocumentHasAMethod(t *testing.T) {
	document, err := openapi3.NewLoader().LoadFromData(api.YAML)
	noError(t, err)
	for _, item := range document.Paths.Map() {
		for _, op := range item.Operations() {
			name := strings.ToUpper(op.OperationID[:1]) + op.OperationID[1:]
			if _, ok := reflect.TypeFor[*client.Client]().MethodByName(name); !ok {
				t.Errorf("the client has no method %s", name)
			}
		}
	}
}

func TestEveryCodeOfTheDocumentIsAnErrorOfTheClient(t *testing.T) {
	document, err := openapi3.NewLoader().LoadFromData(api.YAML)
	noError(t, err)
	var described, own []string
	for _, code := range document.Components.Schemas["Error"].Value.Properties["code"].Value.Enum {
		described = append(described, code.(string))
	}
	text, err := os.ReadFile("../../client/errors.go")
	noError(t, err)
	for _, match := range regexp.MustCompile(`Code = "(\w+)"`).FindAllStringSubmatch(string(text), -1) {
		own = append(own, match[1])
	}
	slices.Sort(described)
	slices.Sort(own)
	if len(described) == 0 || !slices.Equal(described, own) {
		t.Errorf("the document has the codes\n%s\nthe client\n%s", described, own)
	}
}
