package api

import (
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"petstore/internal/petstore"
)

func TestEveryTypeOfEventIsDescribedAndHasAnExample(t *testing.T) {
	doc := document(t)
	var all []string
	for _, event := range petstore.AllEventTypes {
		all = append(all, event.String())
	}
	slices.Sort(all)
	var described, mapped, shown []string
	schema := doc.Components.Schemas["Event"].Value
	for _, group := range schema.OneOf {
		for _, name := range group.Value.Properties["type"].Value.Enum {
			described = append(described, name.(string))
		}
	}
	for name := range schema.Discriminator.Mapping {
		mapped = append(mapped, name)
	}
	body := doc.Webhooks["event"].Post.RequestBody.Value.Content["application/json"]
	for name, example := range body.Examples {
		value := example.Value.Value.(map[string]any)
		shown = append(shown, value["type"].(string))
		if err := body.Schema.Value.VisitJSON(value, openapi3.EnableJSONSchema2020()); err != nil {
			t.Errorf("the example %s is not an event: %v", name, err)
		}
	}
	for what, names := range map[string][]string{"schemas": described, "mapping": mapped, "examples": shown} {
		if slices.Sort(names); !slices.Equal(names, all) {
			t.Errorf("the %s have %q, want %q", what, names, all)
		}
	}
}

func TestEveryPatternOfEventTypesSelectsSome(t *testing.T) {
	for _, pattern := range document(t).Components.Schemas["EventPattern"].Value.Enum {
		if _, ok := petstore.EventTypes(0).Select(pattern.(string)); !ok {
			t.Errorf("%s selects nothing", pattern)
		}
	}
}
