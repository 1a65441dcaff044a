package result

import "time"

// Busy is the number of connections at which the targets hold.
const Busy = 64

// Target is something that was to be reached, and what was.
type Target struct {
	Subject string
	Name    string
	Line    string // "" unless it is a share of bare
	Goal    float64
	Got     Figures
	Unit    string
	Most    bool // the goal must not be exceeded, rather than reached
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
var shares = map[string]map[string]float64{
	SQLite:   {Hot: 0.80, Distinct: 0.45, Get: 0.65, Create: 0.45, Mix: 0.55},
	Postgres: {Hot: 0.40, Distinct: 0.12, Get: 0.25, Create: 0.30, Mix: 0.30},
}

// gains are the goals of shared commits, as multiples of one commit each.
var gains = map[string]struct {
	against string
	goal    float64
}{
	SQLite:   {OneCommitSQLite, 3},
	Postgres: {OneCommitPostgres, 2},
}

const (
	grownGoal    = 0.85
	startGoal    = 100 // ms
	residentGoal = 64  // MiB
	binaryGoal   = 40  // MB
)

// Targets are all of a store's.
func (r *Run) Targets(subject string) []Target {
	var targets []Target
	for _, line := range Lines {
		if shares[subject][line.ID] == 0 { // it has no goal
			continue
		}
		targets = append(targets, Target{
			Subject: subject, Name: line.Name, Line: line.ID, Unit: "of bare",
			Goal: shares[subject][line.ID], Got: r.Ratio(subject, Bare, line.ID, Busy),
		})
	}
	gain := gains[subject]
	targets = append(targets, Target{
		Subject: subject, Name: "create, against one commit each", Unit: "times", Goal: gain.goal,
		Got: r.Ratio(subject, gain.against, Create, Busy),
	})
	if n := len(r.Settings.Growth); n > 0 {
		most := r.Settings.Growth[n-1]
		for _, line := range Growing {
			targets = append(targets, Target{
				Subject: subject, Name: line.Name + ", on " + Count(most) + " rows", Unit: "of " + Count(r.Settings.Growth[0]), Goal: grownGoal,
				Got: r.Grown(subject, line.ID, most),
			})
		}
	}
	return append(targets, r.startTargets(subject)...)
}

func (r *Run) startTargets(subject string) (targets []Target) {
	for _, s := range r.Starts {
		if s.Subject != subject {
			continue
		}
		var times Figures
		for _, t := range s.Times {
			times = append(times, float64(t)/float64(time.Millisecond))
		}
		targets = append(targets,
			Target{Subject: subject, Name: "start to first answer, " + s.State, Unit: "ms", Goal: startGoal, Got: times, Most: true},
			Target{Subject: subject, Name: "memory at rest, " + s.State, Unit: "MiB", Goal: residentGoal, Got: Figures{float64(s.Resident) / (1 << 20)}, Most: true})
	}
	return targets
}

// BinaryTarget is that of the program's size.
func (r *Run) BinaryTarget() Target {
	return Target{Name: "the program", Unit: "MB", Goal: binaryGoal, Got: Figures{float64(r.Binary) / 1e6}, Most: true}
}
