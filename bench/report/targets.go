package report

import (
	"fmt"
	"time"
)

// Target is a goal, together with the measured figures.
type Target struct {
	Name, Unit string
	subject    Subject
	goal       float64 // 0 if there is none
	most       bool    // whether the goal is an upper bound
	Got        Figures
	Ceiling    Figures // what a minimal program reaches instead of petstore
}

// Goal describes the goal.
func (t Target) Goal() string {
	sign, number := "≥", decimals(t.goal)
	if t.most {
		sign = "≤"
	}
	switch t.goal {
	case 0:
		return "– " + t.Unit
	case float64(int(t.goal)):
		number = fmt.Sprint(t.goal)
	}
	return fmt.Sprintf("%s %s %s", sign, number, t.Unit)
}

const reached = "reached"

// Verdict says whether the median reaches the goal.
func (t Target) Verdict() string {
	got := t.Got.Median()
	switch {
	case len(t.Got) == 0:
		return "not measured in this run"
	case t.goal == 0:
		return "no target"
	case t.most && got <= t.goal, !t.most && got >= t.goal:
		return reached
	}
	return "**missed**"
}

// ofBare is the unit of a share of the bare handler's throughput.
const ofBare = "of bare"

// goals has the goals of each store for every line, as shares of the bare handler's throughput.
var goals = []struct {
	store       string
	connections int
	of          map[string]float64
}{
	{SQLite, Busy, map[string]float64{Hot: 0.78, Distinct: 0.60, Get: 0.74, Create: 0.43, Mix: 0.65, Update: 0.40}},
	{Postgres, 1, map[string]float64{Hot: 0.20, Get: 0.25}},
	{Postgres, Busy, map[string]float64{Hot: 0.46, Distinct: 0.25, Create: 0.31, Mix: 0.40, Update: 0.20, Adoption: 0.20}},
}

// gains are the goals of each store beside the plain service, which commits each create by itself: for one client alone, and
// where commits can be shared.
var gains = map[string][2]float64{SQLite: {0.90, 3}, Postgres: {0.75, 2}}

// Targets returns all targets for a store, and the lines without a target.
func (r *Run) Targets(store string) (targets []Target) {
	at := func(line string, connections int, rows int64) Key {
		return Key{Subject: store, Line: line, Connections: connections, Rows: rows}
	}
	ceiling := func(key Key) Key {
		key.Subject = Ceiling + store
		return key
	}
	// add adds a target for the ratio of two keys.
	add := func(name, unit string, goal float64, key, other Key) {
		t := Target{Name: name, Unit: unit, subject: r.subject(store), goal: goal, Got: r.against("throughput", key, other)}
		if other.Subject != store {
			t.Ceiling = r.against("throughput", ceiling(key), other)
		}
		targets = append(targets, t)
	}
	for _, g := range goals {
		for _, line := range Lines {
			name, key := line.Name, at(line.ID, g.connections, 0)
			if g.connections != Busy {
				name += fmt.Sprintf(", at %d connection", g.connections)
			}
			if g.store == store && (g.of[line.ID] > 0 || g.connections == Busy) {
				add(name, ofBare, g.of[line.ID], key, bareKey(key))
			}
		}
	}
	for _, pair := range [][2]string{{CreateKeyed, Create}, {UpdateKeyed, Update}} {
		add(Some(pair[0])[0].Name+", beside without", "of the same without", 0.8, at(pair[0], Busy, 0), at(pair[1], Busy, 0))
	}
	for i, connections := range []int{1, Busy} {
		key := at(Create, connections, 0)
		plain := key
		plain.Subject = Plain + store
		add(fmt.Sprintf("create, connections: %d, beside plain Go", connections), "of plain Go", gains[store][i], key, plain)
	}
	add("update, 64 connections, beside 16", "of 16", 1, at(Update, Busy, 0), at(Update, 16, 0))
	// An inventory once took 3.9 times as long as a get. Half of that is the goal.
	inventory, get := at(Inventory, 1, 0), at(Get, 1, 0)
	targets = append(targets, Target{Name: "inventory, 1 connection, beside a get: p50", Unit: "of a get", subject: r.subject(store),
		goal: 1.97, most: true, Got: r.against("p50", inventory, get), Ceiling: r.against("p50", ceiling(inventory), get)})
	rows := r.Settings.Growth
	for _, line := range Growing {
		key := at(line.ID, Busy, rows[len(rows)-1])
		name := line.Name + ", on " + Count(key.Rows) + " rows"
		if store == SQLite && line.ID != Inventory {
			add(name, "of the ceiling", 0.90, key, ceiling(key))
			continue
		}
		fewest := key
		fewest.Rows = rows[0]
		add(name, "of "+Count(rows[0]), 0.85, key, fewest)
	}
	for _, s := range r.Starts {
		var times Figures
		for _, t := range s.Times {
			times = append(times, float64(t)/float64(time.Millisecond))
		}
		if s.Subject == store {
			targets = append(targets,
				Target{Name: "start to first answer, " + s.State, Unit: "ms", goal: 100, most: true, Got: times},
				Target{Name: "memory at rest, " + s.State, Unit: "MiB", goal: 64, most: true, Got: Figures{float64(s.Resident) / (1 << 20)}})
		}
	}
	return targets
}

// BinaryTarget returns the target for the program's size.
func (r *Run) BinaryTarget() Target {
	return Target{Unit: "MB", goal: 40, Got: Figures{float64(r.Binary) / 1e6}, most: true}
}

// BuildTarget returns the target for the first build.
func (r *Run) BuildTarget() Target {
	target := Target{Unit: "s", goal: 80, most: true}
	if r.Build > 0 {
		target.Got = Figures{r.Build.Seconds()}
	}
	return target
}

// Score counts the measured targets, and how many of them were reached.
func (r *Run) Score() (score struct{ Reached, All int }) {
	targets := []Target{r.BinaryTarget(), r.BuildTarget()}
	for _, store := range r.Stores() {
		targets = append(targets, r.Targets(store.ID)...)
	}
	for _, t := range targets {
		if len(t.Got) > 0 && t.goal > 0 {
			score.All++
		}
		if t.Verdict() == reached {
			score.Reached++
		}
	}
	return score
}
