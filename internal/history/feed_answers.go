package history

import (
	"encoding/json"
	"maps"
	"net/http"
	"time"

	"petstore/internal/model"
)

// compareAnswers checks that each answer shows states that the feed has at the time of the request. It also checks that the
// feed has an event of each write that was acknowledged. It skips requests that had not returned when the feed was last read
// to its end.
func (f *feed) compareAnswers() {
	quiet := time.Duration(0) // when the last write returned
	for _, writes := range f.writes {
		for _, w := range writes {
			if w.to < model.Never {
				quiet = max(quiet, w.to)
			}
			if !w.hasEvent && w.to < f.ended && !f.changesNothing(w) {
				f.report(WrongFeed, "The feed has no event of a write.", w.Exchange)
			}
		}
	}
	for _, op := range f.operations {
		if op.Returned < f.ended && !f.hasShown(op, quiet) {
			f.report(WrongFeed, "An answer shows what the feed does not have at that time.", op.Exchange)
		}
	}
}

// changesNothing reports whether a write can have found everything as it should be.
func (f *feed) changesNothing(w *write) bool {
	return w.answer != nil && w.Status == http.StatusOK && f.has(w.about(), w.answer, w.from, w.to)
}

// hasShown reports whether the feed has what an answer shows. A list without filters that was read when all writes had
// returned also shows that nothing else exists.
func (f *feed) hasShown(op *model.Operation, quiet time.Duration) bool {
	about := thing{noun: op.Noun, id: op.ID}
	switch {
	case op.Code == "not_found":
		return f.has(about, nil, op.Called, op.Returned)
	case op.Code != "" || op.Method != "GET" || op.Noun == "inventory":
		return true
	case !op.Lists():
		var shown members
		json.Unmarshal(op.Answer, &shown)
		return f.has(about, shown, op.Called, op.Returned)
	}
	var rows []members
	json.Unmarshal(op.Answer, &rows)
	shown := make(map[thing]members)
	for i, row := range op.Rows() {
		shown[thing{noun: op.Noun, id: row.ID}] = rows[i]
	}
	if isWhole := op.Page.Status == "" && op.Page.ID == nil && op.Page.PetID == nil; isWhole && op.Called > quiet {
		for t := range f.states {
			if _, ok := shown[t]; !ok && t.noun == op.Noun && op.Page.Covers(t.id) {
				shown[t] = nil
			}
		}
	}
	for t, state := range shown {
		if !f.has(t, state, op.Called, op.Returned) {
			return false
		}
	}
	return true
}

// has reports whether, by the feed, a thing can have been in a state at some moment between two others.
func (f *feed) has(t thing, state members, from, to time.Duration) bool {
	var now members
	var since time.Duration
	for _, e := range f.states[t] {
		if since <= to && e.to >= from && f.isShownAs(t, now, state) {
			return true
		}
		now, since = e.state(), e.from
	}
	return since <= to && f.isShownAs(t, now, state)
}

// isShownAs reports whether an answer can show a state. If the store could not store that an order has expired, answers show
// the order as expired all the same.
func (f *feed) isShownAs(t thing, now, shown members) bool {
	if now["status"] == "open" && shown["status"] == "expired" {
		now = maps.Clone(now)
		now["status"], now["closedAt"] = "expired", now["expiresAt"]
	}
	return f.same(t, now, shown)
}
