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

// Soak is a long run at a constant rate, of which pages tell whether anything grows.
type Soak struct {
	Run     Run      // of one subject
	Rate    float64  // requests a second
	Watched []string // what is watched, with its unit
	Samples []Sample
}

// Sample is one interval.
type Sample struct {
	At      time.Duration // since the start
	Load    load.Result
	Figures Figures // of everything that is watched
}

// figures are those of one thing that is watched.
func figures(samples []Sample, watched int) (f Figures) {
	for _, s := range samples {
		f = append(f, s.Figures[watched])
	}
	return f
}

// settling is how much of the start is not judged, because caches fill and pools open: a sixth of a short run.
const settling = 10 * time.Minute

// notable is the share by which something must rise over the run to be said to grow.
const notable = 0.10

// verdict tells what became of something after the settling.
type verdict struct {
	Name                string
	First, Last, Hourly float64 // the medians of the first and the last quarter, and the rise in an hour
	Grows               bool
}

// Verdicts say of everything whether it grows: its Theil–Sen line, the median of the slopes between all pairs of samples,
// rises by a tenth over the run, and so do, from the first quarter to the last, its median and what nine of ten samples
// stay below. So what only moves within bounds does not grow.
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

// slope is that of the Theil–Sen line, per hour. Of a long run it takes about a thousand samples.
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

// Length is how long it was.
func (s *Soak) Length() time.Duration { return s.Samples[len(s.Samples)-1].At.Round(time.Second) }

// Sum adds up the samples.
func (s *Soak) Sum() (sum load.Result) {
	for _, sample := range s.Samples {
		sum.Requests += sample.Load.Requests
		if sum.Failed += sample.Load.Failed; sum.Failure == "" {
			sum.Failure = strings.Join(strings.Fields(sample.Load.Failure), " ")
		}
	}
	return sum
}

// Table is the soak as Markdown.
func (s *Soak) Table() (string, error) {
	if len(s.Samples) == 0 {
		return "", errors.New("there are no samples of a soak")
	}
	text, err := render("soak.md", s)
	return string(text), err
}

// Draw draws what is watched, with its spread, at about as many places as the run has minutes.
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
