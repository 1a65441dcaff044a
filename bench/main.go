// Command bench measures petstore as users get it, beside a bare net/http handler that writes the same bytes. From the
// measurements, it writes docs/performance.md and docs/performance-details.md. It needs Linux.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"petstore/bench/report"
)

// root is the path from the bench to the folder of petstore's module.
const root = ".."

// commands are the commands of the bench besides measuring everything. For load, bare, plain and ceiling, the bench starts itself as
// another process. The load, and the services that petstore is compared with, then run in their own processes.
var commands = map[string]func(args []string) error{
	"soak": runSoak, "soak-page": runSoakPage,
	"load": runLoad, "bare": runBare, "plain": runPlain, "ceiling": runCeiling,
}

func main() {
	command, args := run, os.Args[1:]
	if len(args) > 0 && commands[args[0]] != nil {
		command, args = commands[args[0]], args[1:]
	}
	if err := command(args); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is one run of the benchmark. It has the services that the run has started and the measurements that it has taken.
type bench struct {
	ctx             context.Context // ends when the user interrupts the run
	scratch         string          // a folder that is removed at the end
	binary          string          // the path of the petstore program
	postgres, redis *service        // redis is nil unless PostgreSQL and Redis both run
	services        []*service      // the services that are being measured
	held            []io.Closer     // the locks that keep other programs off the services' ports
	run             report.Run
	partial         string // the file with the results of an incomplete run
}

func run(args []string) error {
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	quick := flags.Bool("quick", false, "check that everything works: 2 rounds of 0.3 s unless other flags say otherwise; writes into bench/results/quick")
	peers := flags.Bool("peers", false, "also measure other services, installed from package registries")
	rounds := flags.Int("rounds", 11, "how often everything is measured")
	seconds := flags.Float64("seconds", 0.4, "how long one measurement takes")
	skip := flags.String("skip", "", "what not to measure, separated by commas: rates, growth, replicas, starts, build")
	dir := flags.String("dir", "", "the folder for databases, on the disk to be measured (default: the folder for temporary files)")
	only := flags.String("lines", "", "measure only these lines, separated by commas, such as create,create-keyed, and write no pages")
	from := flags.String("page", "", "measure nothing; rewrite both pages from this file of results")
	profiles := flags.String("profile", "", "measure nothing; write CPU profiles of petstore under every line into this folder")
	flags.Parse(args)
	results, docs := "results", filepath.Join(root, "docs")
	if *from != "" {
		r, err := report.Load[report.Run](*from)
		if err != nil {
			return err
		}
		return r.Write(docs)
	}
	if *quick {
		*rounds, *seconds, results = 2, 0.3, filepath.Join(results, "quick")
		docs = results
		flags.Parse(args) // applies the flags on the command line again, so that they win
	}
	b, err := newBench(*dir, *rounds, time.Duration(*seconds*float64(time.Second)))
	if err != nil {
		return err
	}
	defer b.close()
	b.run.Command = "go -C bench run ."
	flags.Visit(func(f *flag.Flag) {
		if f.Name != "dir" { // a local path does not belong on the page
			b.run.Command += strings.TrimSuffix(fmt.Sprintf(" -%s=%s", f.Name, f.Value), "=true")
		}
	})
	if *quick {
		b.run.Settings.Growth = b.run.Settings.Growth[:2]
	}
	if err := b.startSubjects(*peers); err != nil {
		return err
	}
	if *profiles != "" {
		return b.profileLines(*profiles)
	}
	if *only != "" {
		b.partial = filepath.Join(b.scratch, "results")
		return b.measureGroups([][]report.Line{report.Some(strings.Split(*only, ",")...)})
	}
	return b.record(results, docs, strings.Split(*skip, ","))
}

// newBench prepares a run and builds petstore.
func newBench(dir string, rounds int, duration time.Duration) (*bench, error) {
	if runtime.GOOS != "linux" {
		return nil, errors.New("measuring needs Linux: the load waits with epoll, and processor time and memory are read from /proc")
	}
	scratch, err := os.MkdirTemp(dir, "petstore-bench-")
	if err != nil {
		return nil, err
	}
	b := &bench{scratch: scratch, binary: filepath.Join(scratch, "petstore")}
	b.ctx, _ = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	sync, err := measureSync(b.scratch)
	kilobytes, _ := strconv.ParseUint(output("awk", "/^MemTotal/ {print $2}", "/proc/meminfo"), 10, 64)
	_, fileSystem, _ := strings.Cut(output("df", "--output=fstype", b.scratch), "\n")
	b.run = report.Run{
		Date:     time.Now().UTC().Truncate(time.Second),
		Revision: output("git", "-C", root, "describe", "--tags", "--always", "--dirty"),
		LeftOut:  []string{},
		Machine: report.Machine{
			Processor:  output("awk", "-F: ", "/^model name/ {print $2; exit}", "/proc/cpuinfo"),
			Processors: runtime.NumCPU(), Memory: kilobytes << 10, System: output("uname", "-srm"),
			Go: strings.TrimPrefix(runtime.Version(), "go"), FileSystem: fileSystem, Sync: sync,
		},
		Settings: report.Settings{
			Rounds: rounds, Duration: duration, Warmup: duration / 2, Steady: 6 * duration,
			Connections: []int{1, 16, report.Busy}, Replicas: []int{1, 2, 3}, Shares: []float64{0.25, 0.5, 0.75},
			Rows: rows, Growth: []int64{10_000, 100_000, 1_000_000, 10_000_000},
		},
	}
	// PostgreSQL may run as another user, who must be able to enter the folder.
	if err := errors.Join(err, os.Chmod(b.scratch, 0o711), runCommand(b.build(b.binary))); err != nil {
		b.close()
		return nil, err
	}
	b.run.Binary = must(os.Stat(b.binary)).Size()
	return b, nil
}

// build returns a command that builds the program as users get it.
func (b *bench) build(binary string) *exec.Cmd {
	build := exec.Command("go", "-C", root, "build", "-trimpath", "-ldflags", "-s -w -X main.version="+b.run.Revision, "-o", binary, "./cmd/petstore")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	return build
}

// runCommand runs a command and waits for its end. An error includes the output of the command.
func runCommand(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return nil
}

// leaveOut records that something cannot be measured, and why.
func (b *bench) leaveOut(what string, err error) {
	sentence := fmt.Sprintf("%s is left out: %s", what, strings.ReplaceAll(err.Error(), "\n", " "))
	fmt.Println(sentence)
	b.run.LeftOut = append(b.run.LeftOut, sentence)
}

// stopServices stops the services that are being measured. PostgreSQL and Redis keep running.
func (b *bench) stopServices() {
	for _, s := range b.services {
		s.stop()
	}
	b.services = nil
}

func (b *bench) close() {
	b.stopServices()
	for _, store := range []*service{b.redis, b.postgres} {
		if store != nil {
			store.stop()
		}
	}
	for _, port := range b.held {
		port.Close()
	}
	os.RemoveAll(b.scratch)
}

// output returns the output of a command, or "unknown" if the command fails.
func output(name string, args ...string) string {
	text, err := exec.Command(name, args...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

// measureSync returns the median time to make 4 kB durable. Every commit has to wait that long.
func measureSync(dir string) (time.Duration, error) {
	file, err := os.Create(filepath.Join(dir, "sync"))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	var times report.Figures
	for err == nil && len(times) < 200 {
		start := time.Now()
		_, err = file.Write(make([]byte, 4096))
		err = errors.Join(err, file.Sync())
		times = append(times, float64(time.Since(start)))
	}
	return time.Duration(times.Median()), err
}

// must panics if err is not nil. Use it for errors that make any measurement impossible, such as a full disk.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
