package baseline

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// schema has the tables of petstore that the ceiling uses, with two animals.
const schema = `
	CREATE TABLE pets (id INTEGER PRIMARY KEY, name TEXT, category_id INTEGER, status INTEGER);
	CREATE TABLE orders (id INTEGER PRIMARY KEY, pet_id INTEGER, status INTEGER, reference TEXT, created_at INTEGER, expires_at INTEGER, closed_at INTEGER);
	CREATE TABLE inventory (status INTEGER PRIMARY KEY, animals INTEGER);
	INSERT INTO pets (name, category_id, status) VALUES ('Rex', 7, 3), ('Tom', 8, 1);
	INSERT INTO inventory VALUES (1, 1), (2, 0), (3, 1);
`

func openCeiling(t *testing.T) http.Handler {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pets.db")
	conn, err := sqlite.OpenConn(path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := sqlitex.ExecuteScript(conn, schema, nil); err != nil {
		t.Fatal(err)
	}
	handler, err := Ceiling("sqlite:" + path)
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

func ask(handler http.Handler, method, path, body string) (status int, answer string) {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w.Code, w.Body.String()
}

func TestTheCeilingShowsWhatItHasStored(t *testing.T) {
	handler := openCeiling(t)
	const rex, tom = `{"id":1,"name":"Rex","categoryId":7,"status":"sold"}`, `{"id":2,"name":"Tom","categoryId":8,"status":"available"}`
	times := regexp.MustCompile(`\d{4}-[^"]+Z`)
	for _, step := range []struct {
		request, body string
		status        int
		want          string
	}{
		{"GET /v1/pets", "", 200, "[" + tom + "," + rex + "]"},
		{"GET /v1/pets?cursor=AQAAAAAAAAAC&limit=20", "", 200, "[" + rex + "]"},
		{"POST /v1/pets", `{"name":"O\"","categoryId":1,"status":"available"}`, 201, `{"id":3,"name":"O\"","categoryId":1,"status":"available"}`},
		{"GET /v1/inventory", "", 200, `{"available":2,"pending":0,"sold":1}`},
		{"PATCH /v1/pets/3", `{"categoryId":9}`, 200, `{"id":3,"name":"O\"","categoryId":9,"status":"available"}`},
		{"POST /v1/orders", `{"petId":3}`, 201, `{"id":1,"petId":3,"status":"open","createdAt":"T","expiresAt":"T"}`},
		{"POST /v1/orders", `{"petId":3}`, 404, "there is no such animal"},
		{"GET /v1/inventory", "", 200, `{"available":1,"pending":1,"sold":1}`},
		{"POST /v1/orders/1/complete", "", 200, `{"id":1,"petId":3,"status":"completed","createdAt":"T","expiresAt":"T","closedAt":"T"}`},
		{"POST /v1/orders/1/complete", "", 404, "there is no such animal"},
		{"GET /v1/pets/3", "", 200, `{"id":3,"name":"O\"","categoryId":9,"status":"sold"}`},
		{"GET /v1/inventory", "", 200, `{"available":1,"pending":0,"sold":2}`},
		{"PATCH /v1/pets/4", `{"categoryId":9}`, 404, "there is no such animal"},
	} {
		method, path, _ := strings.Cut(step.request, " ")
		status, answer := ask(handler, method, path, step.body)
		if answer = times.ReplaceAllString(answer, "T"); status != step.status || answer != step.want {
			t.Errorf("%s %s: %d %s", step.request, step.body, status, answer)
		}
	}
}

func TestTheCeilingStoresEveryChangeOfAGroup(t *testing.T) {
	handler := openCeiling(t)
	var clients sync.WaitGroup
	for i := range 100 {
		clients.Go(func() {
			ask(handler, "POST", "/v1/pets", fmt.Sprintf(`{"name":"Pet %d","categoryId":1,"status":"sold"}`, i))
			ask(handler, "PATCH", "/v1/pets/2", fmt.Sprintf(`{"categoryId":%d}`, i))
		})
	}
	clients.Wait()
	if _, inventory := ask(handler, "GET", "/v1/inventory", ""); inventory != `{"available":1,"pending":0,"sold":101}` {
		t.Error(inventory)
	}
	_, page := ask(handler, "GET", "/v1/pets?cursor=AX__________&limit=100", "")
	for i := range 100 {
		if strings.Count(page, fmt.Sprintf(`"Pet %d"`, i)) != 1 {
			t.Errorf("pet %d is not once in %s", i, page)
		}
	}
}
