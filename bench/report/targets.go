package report

import (
	"fmt"
	"time"
)

// Target is a goal, together with the measured figures.
type Target struct {
	Name, Unit string
	subject    Subject
	goal       float64
	most       bool // whether the goal is an upper bound
	Got        Figures
}

// Goal describes the goal.
func (t Target) Goal() string {
	sign, number := "≥", decimals(t.goal)
	if t.most {
		sign = "≤"
	}
	if t.goal == float64(int(t.goal)) {
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
	case t.most && got <= t.goal, !t.most && got >= t.goal:
		return reached
	}
	return "**missed**"
}

// ofBare is the unit of a share of the bare handler's throughput.
const ofBare = "of bare"

// shares are the goals for lines, as shares of the bare handler's throughput.
var shares = []struct {
	store       string
	connections int
	goals       map[string]float64
}{
	{SQLite, Busy, map[string]float64{Hot: 0.78, Distinct: 0.60, Get: 0.74, Create: 0.46, Mix: 0.65}},
	{Postgres, 1, map[string]float64{Hot: 0.20, Get: 0.25}},
	{Postgres, Busy, map[string]float64{Hot: 0.46, Distinct: 0.25, Get: 0.50, Create: 0.33, Mix: 0.40}},
}

// gains are the goals for shared commits. A gain is a multiple of the throughput with one commit per create.
var gains = map[string]float64{SQLite: 3, Postgres: 2}

// Targets returns all targets for a store.
func (r *Run) Targets(store string) (targets []Target) {
	add := func(name, unit string, goal float64, most bool, got Figures) {
		targets = append(targets, Target{Name: name, Unit: unit, subject: r.subject(store), goal: goal, most: most, Got: got})
	}
	for _, s := range shares {
		for _, line := range Lines {
			name := line.Name
			if s.connections != Busy {
				name += fmt.Sprintf(", at %d connection", s.connections)
			}
			if goal := s.goals[line.ID]; goal > 0 && s.store == store {
				add(name, ofBare, goal, false, r.Ratio(Key{Subject: store, Line: line.ID, Connections: s.connections}))
			}
		}
	}
	add("create, against one commit each", "times", gains[store], false, r.against(r.AtBusy(store, Create), r.AtBusy(Plain+store, Create)))
	rows := r.Settings.Growth
	for _, line := range Growing {
		key := r.AtBusy(store, line.ID)
		key.Rows = rows[len(rows)-1]
		add(line.Name+", on "+Count(key.Rows)+" rows", "of "+Count(rows[0]), 0.85, false, r.Ratio(key))
	}
	for _, s := range r.Starts {
		var times Figures
		for _, t := range s.Times {
			times = append(times, float64(t)/float64(time.Millisecond))
		}
		if s.Subject == store {
			add("start to first answer, "+s.State, "ms", 100, true, times)
			add("memory at rest, "+s.State, "MiB", 64, true, Figures{float64(s.Resident) / (1 << 20)})
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
		if len(t.Got) > 0 {
			score.All++
		}
		if t.Verdict() == reached {
			score.Reached++
		}
	}
	return score
}
