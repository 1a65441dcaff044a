package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"petstore/bench/load"
)

// Soak is a long run at a constant rate. It shows whether any figure grows.
type Soak struct {
	Run     Run      // a run with one subject
	Rate    float64  // the rate in requests per second
	Watched []string // the names of the watched figures, with their units
	Samples []Sample
}

// Sample holds the measurements of one interval.
type Sample struct {
	At      time.Duration // the time since the start of the run
	Load    load.Result
	Figures Figures // the watched figures
}

// figures returns all values of one watched figure.
func figures(samples []Sample, watched int) (f Figures) {
	for _, s := range samples {
		f = append(f, s.Figures[watched])
	}
	return f
}

// settling is the time at the start that does not count, because caches fill and pools open. In a short run, a sixth of the
// run does not count.
const settling = 10 * time.Minute

// notable is the share by which a figure must rise over the run to count as growing.
const notable = 0.10

// verdict says how one figure developed after the settling time.
type verdict struct {
	Name                string
	First, Last, Hourly float64 // the medians of the first and the last quarter, and the rise per hour
	Grows               bool
}

// Verdicts says for every figure whether it grows. A figure grows if two conditions hold. First, its Theil–Sen slope, which
// is the median of the slopes between all pairs of samples, amounts to a tenth over the run. Second, its median and its 90th
// percentile rise by a tenth from the first quarter to the last. A figure that only fluctuates within bounds therefore does
// not grow.
func (s *Soak) Verdicts() (verdicts []verdict) {
	from := min(settling, s.Length()/6)
	samples := s.Samples[slices.IndexFunc(s.Samples, func(s Sample) bool { return s.At > from }):]
	if len(samples) < 8 {
		return nil
	}
	hours, quarter := (samples[len(samples)-1].At - samples[0].At).Hours(), len(samples)/4
	for i, name := range s.Watched {
		values := figures(samples, i)
		if values.Max() == 0 {
			continue
		}
		first, last := values[:quarter], values[len(values)-quarter:]
		v := verdict{Name: name, First: first.Median(), Last: last.Median(), Hourly: slope(samples, values)}
		v.Grows = v.Hourly*hours > notable*v.First && v.Last > (1+notable)*v.First && last.at(0.9) > (1+notable)*first.at(0.9)
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// slope returns the Theil–Sen slope per hour. For a long run, it uses about a thousand samples.
func slope(samples []Sample, values Figures) float64 {
	var slopes Figures
	step := len(values)/1000 + 1
	for i := 0; i < len(values); i += step {
		for j := 0; j < i; j += step {
			slopes = append(slopes, (values[i]-values[j])/(samples[i].At-samples[j].At).Hours())
		}
	}
	return slopes.Median()
}

// Length returns how long the run took.
func (s *Soak) Length() time.Duration { return s.Samples[len(s.Samples)-1].At.Round(time.Second) }

// Sum adds up the results of all samples.
func (s *Soak) Sum() (sum load.Result) {
	for _, sample := range s.Samples {
		sum.Requests += sample.Load.Requests
		if sum.Failed += sample.Load.Failed; sum.Failure == "" {
			sum.Failure = strings.Join(strings.Fields(sample.Load.Failure), " ")
		}
	}
	return sum
}

// Table returns the soak as a table in Markdown.
func (s *Soak) Table() (string, error) {
	if len(s.Samples) == 0 {
		return "", errors.New("there are no samples of a soak")
	}
	text, err := render("soak.md", s)
	return string(text), err
}

// Draw draws the watched figures with their spread at about sixty points.
func (s *Soak) Draw(path string) error {
	pic := newPicture(fmt.Sprintf("%s, %s requests a second", s.Run.Subjects[0].Name, humanize.Comma(int64(s.Rate))), 3, 280, 190)
	parts := slices.Collect(slices.Chunk(s.Samples, max(1, len(s.Samples)/60)))
	minutes := make([]string, len(parts))
	for i := 0; i < len(parts); i += 10 {
		minutes[i] = fmt.Sprintf("%.0f", parts[i][0].At.Minutes())
	}
	for i, name := range s.Watched {
		if figures(s.Samples, i).Max() == 0 {
			continue
		}
		p := pic.add(name, "minutes")
		p.NominalX(minutes...)
		var values []Figures
		for _, part := range parts {
			values = append(values, figures(part, i))
		}
		addSeries(p, colors[2], false, values)
	}
	return pic.write(path)
}
