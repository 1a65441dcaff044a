package testservice_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

func TestAServerKeepsItsAddressAndDatabaseAfterACrash(t *testing.T) {
	t.Parallel()
	binary, database := testservice.Build(t), "sqlite:"+filepath.Join(t.TempDir(), "pets.db")
	server := testservice.NewServer(t, binary, "--database", database)
	server.Start(t)
	key := testservice.NewKey(t, binary, database, "--plan", "business")
	for range 2 {
		request, _ := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/v1/pets", nil)
		request.Header.Set("Authorization", "Bearer "+key)
		answer, err := http.DefaultClient.Do(request)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%v %v", answer, err)
		}
		answer.Body.Close()
		server.Kill(t)
		server.Start(t)
	}
	server.Stop(t)
	if log := server.Log(t); !strings.Contains(log, `"msg":"stopping"`) {
		t.Errorf("the log does not mention the stop:\n%s", log)
	}
}
