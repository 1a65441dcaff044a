package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"petstore/bench/load"
	"petstore/bench/result"
)

// checkAnswers makes sure, before anything is timed, that each line is answered with what it asks for, and different
// numbers differently.
func (s *service) checkAnswers() error {
	for line, requests := range s.lines {
		r, numbers := requests[0], load.Numbers{}
		if r.Numbers != nil {
			numbers = *r.Numbers
		}
		_, first, err1 := r.Ask(s.address, numbers.First)
		_, last, err2 := r.Ask(s.address, numbers.Last)
		err := errors.Join(err1, err2)
		if err == nil && numbers.First != numbers.Last && bytes.Equal(first, last) {
			err = fmt.Errorf("it answers the same for %d and %d: %s", numbers.First, numbers.Last, first)
		}
		if err == nil && line != result.Inventory && !bytes.Contains(first, []byte(`"name"`)) {
			err = fmt.Errorf("there is no animal in %s", first)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
	}
	return nil
}

// checkShipped makes sure that petstore shows what it has stored, and that nothing of it is switched off.
func (s *service) checkShipped() error {
	return errors.Join(s.checkAnswers(), s.checkList(), s.checkObserved())
}

// checkList looks for a new animal at once at the head of the list, and compares the server's cursor with those that the
// load will make.
func (s *service) checkList() error {
	_, created, err1 := s.lines[result.Create][0].Ask(s.address, 0)
	list, body, err2 := s.lines[result.Hot][0].Ask(s.address, 0)
	var pets []json.RawMessage
	if err := errors.Join(err1, err2, json.Unmarshal(body, &pets)); err != nil {
		return err
	}
	if len(pets) != pageSize || !bytes.Equal(pets[0], bytes.TrimSpace(created)) {
		return fmt.Errorf("%s was created, and a list of %d begins with %s", created, len(pets), pets[0])
	}
	cursor := load.Cursor.Text(load.Number(pets[pageSize-1], "id"))
	if link := list.Header.Get("Link"); !strings.Contains(link, "cursor="+cursor+"&") {
		return fmt.Errorf("the next page is at %q, and the load would ask for the cursor %s", link, cursor)
	}
	for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"} {
		if list.Header.Get(name) == "" {
			return fmt.Errorf("the answer has no %s", name)
		}
	}
	return nil
}

// checkObserved asks without a key, and looks for what was asked in the metrics and in the log.
func (s *service) checkObserved() error {
	if _, _, err := load.NewRequest(http.MethodGet, "/v1/pets", "", "", nil, http.StatusUnauthorized).Ask(s.address, 0); err != nil {
		return fmt.Errorf("without a key: %w", err)
	}
	metrics, err := s.metrics()
	if err != nil || metrics[`petstore_requests_total{route="createPet",status="201"}`] == 0 {
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
