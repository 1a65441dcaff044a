// Command bench measures petstore as it is shipped, beside a bare net/http handler that writes the same bytes, and
// writes docs/performance.md from what it has measured. It needs Linux.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"petstore/bench/page"
	"petstore/bench/result"
)

// root is the folder of petstore's module, seen from that of the bench.
const root = ".."

// commands are what the bench does beside measuring everything. As the last of them it starts itself again, so that what
// is measured, what it is compared with and the load are processes of their own.
var commands = map[string]func(args []string) error{
	"soak": runSoak, "soak-page": runSoakPage,
	"load": runLoad, "bare": runBare, "plain": runPlain,
}

func main() {
	err := errors.New("this needs Linux: the load waits with epoll, and processor time and memory are read from /proc")
	if runtime.GOOS == "linux" {
		command, args := run, os.Args[1:]
		if len(args) > 0 && commands[args[0]] != nil {
			command, args = commands[args[0]], args[1:]
		}
		err = command(args)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are what a user may set.
type options struct {
	quick, peers           bool
	rounds                 int
	seconds                float64
	skip, dir, binary      string
	from, profile, command string
}

// parse exits if the flags are not right.
func (o *options) parse(args []string) {
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	flags.BoolVar(&o.quick, "quick", false, "2 rounds of 0.3 s unless told otherwise, to see that everything works; writes into bench/results/quick")
	flags.BoolVar(&o.peers, "peers", false, "measure other services too, from the package registries")
	flags.IntVar(&o.rounds, "rounds", 5, "how often everything is measured")
	flags.Float64Var(&o.seconds, "seconds", 0.8, "how long one measurement takes")
	flags.StringVar(&o.skip, "skip", "", "what not to measure, with commas: rates, growth, replicas, starts")
	flags.StringVar(&o.dir, "dir", "", "the folder for databases, on the disk to be measured (that for temporary files)")
	flags.StringVar(&o.from, "page", "", "measure nothing, and write the page of this file of results anew")
	flags.StringVar(&o.profile, "profile", "", "measure nothing, and write profiles of petstore under every line into this folder")
	flags.Parse(args)
	if o.quick {
		o.rounds, o.seconds = 2, 0.3
		flags.Parse(args) // what is given wins
	}
	o.command = "go -C bench run ."
	flags.Visit(func(f *flag.Flag) {
		if f.Name != "dir" { // folders are nobody else's business
			o.command += fmt.Sprintf(" -%s=%s", f.Name, f.Value)
		}
	})
	o.command = strings.ReplaceAll(o.command, "=true", "")
}

func run(args []string) error {
	var o options
	o.parse(args)
	if o.from != "" {
		r, err := result.Load(o.from)
		if err != nil {
			return err
		}
		return page.Write(r, filepath.Join(root, "docs"))
	}
	b, err := newBench(o)
	if err != nil {
		return err
	}
	defer b.close()
	if o.profile != "" {
		return b.profileLines()
	}
	if err := b.measure(); err != nil {
		return err
	}
	return b.publish()
}

// publish writes the results and the page that follows from them, and fails if any answer was wrong.
func (b *bench) publish() error {
	results, docs := "results", filepath.Join(root, "docs")
	if b.quick {
		results = filepath.Join(results, "quick")
		docs = results
	}
	if err := os.MkdirAll(results, 0o755); err != nil {
		return err
	}
	file := filepath.Join(results, "latest.json")
	if err := errors.Join(b.run.Save(file), page.Write(b.run, docs)); err != nil {
		return err
	}
	fmt.Printf("\n%s and %s are written, after %v.\n", file, filepath.Join(docs, page.Name), time.Since(b.run.Date).Round(time.Second))
	if wrong := b.run.Wrong(false); wrong.Answers > 0 {
		return fmt.Errorf("%d answers were not the right ones; the first: %s", wrong.Answers, wrong.First)
	}
	return nil
}

// settings are how this run measures.
func (o options) settings() result.Settings {
	duration := time.Duration(o.seconds * float64(time.Second))
	s := result.Settings{
		Rounds:      o.rounds,
		Duration:    duration,
		Warmup:      duration / 4,
		Steady:      3 * duration,
		Connections: []int{1, 16, result.Busy},
		Rows:        100_000,
		Growth:      []int64{10_000, 100_000, 1_000_000, 10_000_000},
		Shares:      []float64{0.25, 0.5, 0.75},
		Replicas:    []int{1, 2, 3},
	}
	if o.quick {
		s.Growth = s.Growth[:2]
	}
	return s
}
