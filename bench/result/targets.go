package result

import (
	"fmt"
	"time"
)

// Busy is the number of connections at which most targets hold.
const Busy = 64

// Target is something that was to be reached, and what was.
type Target struct {
	Name        string
	Line        string // "" unless it is a share of bare
	Connections int
	Goal        float64
	Got         Figures
	Unit        string
	Most        bool // the goal must not be exceeded, rather than reached
}

// Measured reports whether this run says anything about it.
func (t Target) Measured() bool { return len(t.Got) > 0 }

// Reached reports whether the median is on the right side.
func (t Target) Reached() bool {
	if t.Most {
		return t.Got.Median() <= t.Goal
	}
	return t.Got.Median() >= t.Goal
}

// shares are the goals of the lines, as shares of bare's throughput.
var shares = []struct {
	subject     string
	connections int
	goals       map[string]float64
}{
	{SQLite, Busy, map[string]float64{Hot: 0.78, Distinct: 0.60, Get: 0.74, Create: 0.46, Mix: 0.65}},
	{Postgres, 1, map[string]float64{Hot: 0.20, Get: 0.25}},
	{Postgres, Busy, map[string]float64{Hot: 0.40, Distinct: 0.25, Get: 0.50, Create: 0.33, Mix: 0.30}},
}

// gains are the goals of shared commits, as multiples of what commits every create by itself.
var gains = map[string]struct {
	against string
	goal    float64
}{
	SQLite:   {PlainSQLite, 3},
	Postgres: {PlainPostgres, 2},
}

const (
	grownGoal    = 0.85
	startGoal    = 100 // ms
	residentGoal = 64  // MiB
	binaryGoal   = 40  // MB
)

// Targets are all of a store's.
func (r *Run) Targets(subject string) (targets []Target) {
	for _, s := range shares {
		for _, line := range Lines {
			if goal := s.goals[line.ID]; goal > 0 && s.subject == subject {
				name := line.Name
				if s.connections != Busy {
					name += fmt.Sprintf(", at %d connection", s.connections)
				}
				targets = append(targets, Target{Name: name, Line: line.ID, Connections: s.connections, Unit: "of bare", Goal: goal,
					Got: r.OfBare(subject, line.ID, s.connections)})
			}
		}
	}
	gain, create := gains[subject], Key{Subject: subject, Line: Create, Connections: Busy}
	alone := create
	alone.Subject = gain.against
	targets = append(targets, Target{Name: "create, against one commit each", Unit: "times", Goal: gain.goal, Got: r.Cell(create).Against(r.Cell(alone))})
	most := r.Settings.Growth[len(r.Settings.Growth)-1]
	for _, line := range Growing {
		targets = append(targets, Target{Name: line.Name + ", on " + Count(most) + " rows", Unit: "of " + Count(r.Settings.Growth[0]), Goal: grownGoal,
			Got: r.Grown(subject, line.ID, most)})
	}
	for _, s := range r.Starts {
		if s.Subject != subject {
			continue
		}
		var times Figures
		for _, t := range s.Times {
			times = append(times, float64(t)/float64(time.Millisecond))
		}
		targets = append(targets,
			Target{Name: "start to first answer, " + s.State, Unit: "ms", Goal: startGoal, Got: times, Most: true},
			Target{Name: "memory at rest, " + s.State, Unit: "MiB", Goal: residentGoal, Got: Figures{float64(s.Resident) / (1 << 20)}, Most: true})
	}
	return targets
}

// BinaryTarget is that of the program's size.
func (r *Run) BinaryTarget() Target {
	return Target{Name: "the program", Unit: "MB", Goal: binaryGoal, Got: Figures{float64(r.Binary) / 1e6}, Most: true}
}
