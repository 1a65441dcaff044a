// Command bench measures petstore as it is shipped, beside a bare net/http handler that writes the same bytes, and
// writes docs/performance.md from what it has measured. It needs Linux.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"petstore/bench/page"
	"petstore/bench/result"
)

type options struct {
	quick   bool
	peers   bool
	rounds  int
	seconds float64
	root    string
	dir     string
	binary  string
	from    string
	profile string
}

// commands are what the bench does beside measuring everything.
var commands = map[string]func(args []string) error{"soak": runSoak, "soak-page": runSoakPage}

func main() {
	if len(os.Args) > 1 {
		if child := children[os.Args[1]]; child != nil {
			exit(child(os.Args[2:]))
		}
		if command := commands[os.Args[1]]; command != nil {
			exit(command(os.Args[2:]))
		}
	}
	exit(run())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func parse() (o options) {
	flag.BoolVar(&o.quick, "quick", false, "a short run, to see that everything works; its figures are in bench/results/quick")
	flag.BoolVar(&o.peers, "peers", false, "measure other services too, from the package registries")
	flag.IntVar(&o.rounds, "rounds", 0, "how often everything is measured (5, quick 2)")
	flag.Float64Var(&o.seconds, "seconds", 0, "how long one measurement takes (1.5, quick 0.5)")
	flag.StringVar(&o.root, "root", "..", "the folder of petstore's module")
	flag.StringVar(&o.dir, "dir", "", "the folder for databases, on the disk to be measured (that for temporary files)")
	flag.StringVar(&o.binary, "binary", "", "a petstore that is already built")
	flag.StringVar(&o.from, "page", "", "measure nothing, and write the page of this file of results anew")
	flag.StringVar(&o.profile, "profile", "", "measure nothing, and write profiles of petstore under every line into this folder")
	flag.Parse()
	if o.rounds == 0 {
		o.rounds = pick(o.quick, 2, 5)
	}
	if o.seconds == 0 {
		o.seconds = pick(o.quick, 0.5, 1.5)
	}
	return o
}

func pick[T any](quick bool, short, long T) T {
	if quick {
		return short
	}
	return long
}

func run() error {
	o := parse()
	if o.from != "" {
		r, err := result.Load(o.from)
		if err != nil {
			return err
		}
		return page.Write(r, filepath.Join(o.root, "docs"))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b, err := newBench(ctx, o)
	if err != nil {
		return err
	}
	defer b.close()
	if o.profile != "" {
		return b.profile(o.profile)
	}
	if err := b.measure(); err != nil {
		return err
	}
	return b.publish()
}

// publish writes the results and the page that follows from them, and fails if any answer was wrong.
func (b *bench) publish() error {
	results, docs := filepath.Join(b.root, "bench", "results"), filepath.Join(b.root, "docs")
	file := filepath.Join(results, "latest.json")
	if b.quick {
		docs = filepath.Join(results, "quick")
		file = filepath.Join(docs, "latest.json")
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := b.run.Save(file); err != nil {
		return err
	}
	if err := page.Write(b.run, docs); err != nil {
		return err
	}
	fmt.Printf("\n%s and %s are written.\n", file, filepath.Join(docs, page.Name))
	if n, first := b.run.Failures(); n > 0 {
		return fmt.Errorf("%d answers were not the right ones; the first: %s", n, first)
	}
	return nil
}

// settings are how this run measures.
func (o options) settings() result.Settings {
	duration := time.Duration(o.seconds * float64(time.Second))
	return result.Settings{
		Rounds:      o.rounds,
		Duration:    duration,
		Warmup:      duration / 4,
		Connections: []int{1, 16, result.Busy},
		Rows:        100_000,
		Growth:      pick(o.quick, []int64{10_000, 100_000}, []int64{10_000, 100_000, 1_000_000, 10_000_000}),
	}
}

// command is what to type to have the same measured; folders are nobody else's business.
func (o options) command() string {
	text := "go -C bench run ."
	flag.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "quick", "peers":
			text += " -" + f.Name
		case "rounds", "seconds":
			text += " -" + f.Name + " " + f.Value.String()
		}
	})
	return text
}
