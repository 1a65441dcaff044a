package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"petstore/bench/load"
	"petstore/bench/result"
)

// animal is a pet as petstore shows it.
type animal struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// checkPetstore makes sure, before anything is timed, that the answers are right and that nothing is switched off.
func checkPetstore(s *server, rows int64) error {
	return errors.Join(s.checkList(), s.checkPages(rows), s.checkGet(rows), s.checkInventory(rows), s.checkCreate(), s.checkAdoption(), s.checkKey(), s.checkObserved())
}

// checkList also compares the server's cursor with the ones that the load will make.
func (s *server) checkList() error {
	list, pets, err := s.list(s.lines[result.Hot][0], 0)
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	cursor := load.Cursor.Text(pets[len(pets)-1].ID)
	if link := list.Header.Get("Link"); !strings.Contains(link, "cursor="+cursor+"&") {
		return fmt.Errorf("list: the next page is at %q, and the load would ask for the cursor %s", link, cursor)
	}
	for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"} {
		if list.Header.Get(name) == "" {
			return fmt.Errorf("list: the answer has no %s", name)
		}
	}
	return nil
}

func (s *server) checkPages(rows int64) error {
	for _, before := range []int64{pageSize + 1, rows / 2, rows} {
		_, pets, err := s.list(s.lines[result.Distinct][0], before)
		if err == nil && pets[0].ID != before-1 {
			err = fmt.Errorf("the page before %d begins with %d", before, pets[0].ID)
		}
		if err != nil {
			return fmt.Errorf("page: %w", err)
		}
	}
	return nil
}

// list asks for a page, which must be full and in order.
func (s *server) list(r load.Request, n int64) (*http.Response, []animal, error) {
	answer, body, err := r.Ask(s.address, n)
	if err != nil {
		return nil, nil, err
	}
	var pets []animal
	if err := json.Unmarshal(body, &pets); err != nil {
		return nil, nil, err
	}
	if len(pets) != pageSize {
		return nil, nil, fmt.Errorf("%d animals instead of %d", len(pets), pageSize)
	}
	for i := range pets[1:] {
		if pets[i].ID <= pets[i+1].ID {
			return nil, nil, fmt.Errorf("%d comes before %d", pets[i].ID, pets[i+1].ID)
		}
	}
	return answer, pets, nil
}

func (s *server) checkGet(rows int64) error {
	for _, id := range []int64{1, rows / 2, rows} {
		pet, err := s.one(s.lines[result.Get][0], id)
		if err == nil && (pet.ID != id || pet.Name != fmt.Sprint("Pet number ", id)) {
			err = fmt.Errorf("%d is %+v", id, pet)
		}
		if err != nil {
			return fmt.Errorf("get: %w", err)
		}
	}
	return nil
}

// checkCreate looks for the new animal at once where it must be found.
func (s *server) checkCreate() error {
	created, err := s.one(s.lines[result.Create][0], 0)
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	_, newest, err := s.list(s.lines[result.Hot][0], 0)
	if err != nil {
		return fmt.Errorf("list after create: %w", err)
	}
	got, err := s.one(s.lines[result.Get][0], created.ID)
	if err == nil && (got != created || newest[0] != created) {
		err = fmt.Errorf("created %+v, then got %+v and listed %+v", created, got, newest[0])
	}
	return err
}

// checkInventory counts before anything is created.
func (s *server) checkInventory(rows int64) error {
	var counts map[string]int64
	_, body, err := s.lines[result.Inventory][0].Ask(s.address, 0)
	if err == nil {
		err = json.Unmarshal(body, &counts)
	}
	if n := counts["available"] + counts["pending"] + counts["sold"]; err == nil && n != rows {
		err = fmt.Errorf("%d animals are counted instead of %d", n, rows)
	}
	return err
}

// checkAdoption goes the whole way once, and looks at what became of the animal.
func (s *server) checkAdoption() error {
	r, n, pet := s.lines[result.Adoption][0], int64(0), int64(0)
	for next := &r; next != nil; next = next.Then {
		_, body, err := next.Ask(s.address, n)
		if err != nil {
			return fmt.Errorf("adoption: %w", err)
		}
		if n = load.Number(body, "id"); pet == 0 {
			pet = n
		}
	}
	_, body, err := s.lines[result.Get][0].Ask(s.address, pet)
	if err == nil && !bytes.Contains(body, []byte(`"sold"`)) {
		err = fmt.Errorf("after its adoption an animal is %s", body)
	}
	return err
}

func (s *server) one(r load.Request, n int64) (pet animal, err error) {
	_, body, err := r.Ask(s.address, n)
	if err == nil {
		err = json.Unmarshal(body, &pet)
	}
	return pet, err
}

func (s *server) checkKey() error {
	_, _, err := load.NewRequest(http.MethodGet, "/v1/pets", "", "", nil, http.StatusUnauthorized).Ask(s.address, 0)
	if err != nil {
		return fmt.Errorf("without a key: %w", err)
	}
	return nil
}

// checkObserved looks for what was asked in the metrics and in the log.
func (s *server) checkObserved() error {
	answer, err := http.Get("http://" + s.admin + "/metrics")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	metrics, err := io.ReadAll(answer.Body)
	if err != nil || !bytes.Contains(metrics, []byte(`petstore_requests_total{route="createPet",status="201"}`)) {
		return errors.Join(err, errors.New("metrics: the create was not counted"))
	}
	return s.wait(func() error {
		log, err := os.ReadFile(s.log.Name())
		if err == nil && !bytes.Contains(log, []byte("createPet")) {
			err = errors.New("log: the create is not in it")
		}
		return err
	})
}

// checkBare makes sure that bare answers the bytes it was given.
func checkBare(s *server, bodies map[string][]byte) error {
	for line, want := range bodies {
		r := s.lines[line][0]
		_, got, err := r.Ask(s.address, 1)
		if err == nil && !bytes.Equal(got, want) {
			err = fmt.Errorf("it answers %s instead of %s", got, want)
		}
		if err != nil {
			return fmt.Errorf("bare, %s: %w", line, err)
		}
	}
	return nil
}

// checkPeer makes sure that a peer answers each line as it should, and different numbers differently.
func checkPeer(s *server) error {
	for line, requests := range s.lines {
		for _, r := range requests {
			if err := checkAnswers(s.address, r); err != nil {
				return fmt.Errorf("%s, %s: %w", s.Name, line, err)
			}
		}
	}
	return nil
}

func checkAnswers(address string, r load.Request) error {
	if r.Numbers == nil {
		_, body, err := r.Ask(address, 0)
		if err == nil && !bytes.Contains(body, []byte(`"name"`)) {
			err = fmt.Errorf("there is no animal in %s", body)
		}
		return err
	}
	_, first, err1 := r.Ask(address, r.Numbers.First)
	_, last, err2 := r.Ask(address, r.Numbers.Last)
	if bytes.Equal(first, last) && err1 == nil && err2 == nil {
		return fmt.Errorf("it answers the same for %d and %d: %s", r.Numbers.First, r.Numbers.Last, first)
	}
	return errors.Join(err1, err2)
}
