package baseline

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

func TestThePlainServiceShowsWhatItHasStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pets.db")
	conn, err := sqlite.OpenConn(path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := sqlitex.ExecuteTransient(conn, "CREATE TABLE pets (id INTEGER PRIMARY KEY, name TEXT, category_id INTEGER, status INTEGER)", nil); err != nil {
		t.Fatal(err)
	}
	handler, err := Plain("sqlite:"+path, "key")
	if err != nil {
		t.Fatal(err)
	}
	const rex, tom = `{"id":1,"name":"Rex","categoryId":7,"status":"sold"}`, `{"id":2,"name":"Tom","categoryId":8,"status":"available"}`
	for _, step := range []struct {
		method, path, key, body string
		status                  int
		want                    string
	}{
		{"POST", "/v1/pets", "key", `{"name":"Rex","categoryId":7,"status":"sold"}`, http.StatusCreated, rex},
		{"POST", "/v1/pets", "key", `{"name":"Tom","categoryId":8,"status":"available"}`, http.StatusCreated, tom},
		{"POST", "/v1/pets", "key", `{"name":"Nobody"}`, http.StatusBadRequest, "the body is not a whole animal\n"},
		{"GET", "/v1/pets/1", "key", "", http.StatusOK, rex},
		{"GET", "/v1/pets/3", "key", "", http.StatusNotFound, "there is no such animal\n"},
		{"GET", "/v1/pets", "key", "", http.StatusOK, "[" + tom + "," + rex + "]"},
		{"GET", "/v1/pets?cursor=2&limit=20", "key", "", http.StatusOK, "[" + rex + "]"},
		{"GET", "/v1/pets", "another", "", http.StatusUnauthorized, "the key is not known\n"},
	} {
		r := httptest.NewRequest(step.method, step.path, strings.NewReader(step.body))
		r.Header.Set("Authorization", "Bearer "+step.key)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != step.status || w.Body.String() != step.want {
			t.Errorf("%s %s: %d %s", step.method, step.path, w.Code, w.Body)
		}
	}
}
