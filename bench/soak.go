package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"petstore/bench/load"
	"petstore/bench/result"
	"petstore/bench/soak"
)

// runSoak drives petstore at a constant rate for a long time and watches whether anything grows.
func runSoak(args []string) (err error) {
	flags := flag.NewFlagSet("soak", flag.ExitOnError)
	o := options{}
	store := flags.String("store", result.SQLite, "sqlite or postgres (with Redis)")
	length := flags.Duration("for", time.Hour, "how long")
	rate := flags.Float64("rate", 0, "requests a second; 0 is half of what a 10-second run reaches on the spot")
	every := flags.Duration("every", 10*time.Second, "how often a sample is taken")
	out := flags.String("out", "soak.jsonl", "the file for the samples")
	flags.StringVar(&o.dir, "dir", "", "the folder for databases (that for temporary files)")
	flags.StringVar(&o.binary, "binary", "", "a petstore that is already built")
	flags.Parse(args)

	b, err := newBench(o)
	if err != nil {
		return err
	}
	defer b.close()
	switch *store {
	case result.SQLite:
	case result.Postgres:
		err = b.startStores()
	default:
		err = fmt.Errorf("there is no store %q; use sqlite or postgres", *store)
	}
	if err != nil {
		return err
	}
	s, err := b.petstore(*store, "soak", b.run.Settings.Rows)
	if err != nil {
		return err
	}
	b.services = append(b.services, s)
	job := load.Job{
		Address: s.address, Connections: result.Busy, Requests: soakMix(b.run.Settings.Rows, "try"), Duration: 10 * time.Second,
		Seed: 1, Server: []int{s.Pid}, Stores: s.stores,
	}
	if *rate == 0 {
		most, err := drive(b.ctx, job, nil)
		if err != nil {
			return err
		}
		*rate = most.Throughput() / 2
		fmt.Printf("The closed loop reached %.0f requests a second with %d failures %s\n", 2**rate, most.Failed, most.Failure)
	}
	job.Rate, job.Every, job.Duration, job.Seed = *rate, *every, *length, 2
	job.Requests = soakMix(b.run.Settings.Rows, "soak") // with idempotency keys of its own
	file, err := soak.Create(*out, soak.Header{
		Date: b.run.Date, Revision: b.run.Revision, Store: *store, Name: s.Name, Rate: *rate, For: *length,
		Connections: job.Connections, Rows: b.run.Settings.Rows, Machine: b.run.Machine,
	})
	if err != nil {
		return err
	}
	fmt.Printf("%s at %.0f requests a second for %v, samples in %s\n", s.Name, *rate, *length, *out)
	whole, err := b.soak(s, job, file)
	if len(file.Samples) > 0 {
		fmt.Printf("\n%s\nThe whole: p50 %v, p99 %v, p99.9 %v, slowest %v\n", file.Table(), whole.P50, whole.P99, whole.P999, whole.Max)
	}
	return err
}

// soak takes a sample of every interval.
func (b *bench) soak(s *service, job load.Job, file *soak.Run) (load.Result, error) {
	began, told := time.Now(), time.Time{}
	var failed int64
	whole, err := drive(b.ctx, job, func(r load.Result) {
		sample := soak.Sample{At: time.Since(began), Result: r}
		failed += r.Failed
		err := b.sample(s, &sample)
		if err := errors.Join(err, file.Add(sample), s.emptyLog()); err != nil {
			fmt.Println("sample:", err)
		}
		if time.Since(told) >= time.Minute-job.Every/2 {
			told = time.Now()
			fmt.Printf("%6s  %7.0f/s  %d failed  p50 %v  p99 %v  p99.9 %v  slowest %v  %d MiB, heap %.0f MiB, %.0f goroutines, %d files, log %.1f MiB, database %.1f MiB, %.0f animals\n",
				sample.At.Round(time.Second), r.Throughput(), failed, r.P50, r.P99, r.P999, r.Max,
				sample.Resident>>20, sample.Heap/(1<<20), sample.Goroutines, sample.Files, float64(sample.Log)/(1<<20), float64(sample.Database)/(1<<20), sample.Animals)
		}
	})
	return whole, errors.Join(err, file.Close())
}

// sample reads what the server holds.
func (b *bench) sample(s *service, into *soak.Sample) error {
	into.Resident = load.Resident(s.Pid)
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.Pid))
	if err != nil {
		return err
	}
	into.Files = len(files)
	metrics, err := s.metrics()
	if err != nil {
		return err
	}
	into.Heap, into.Goroutines = metrics["go_memstats_heap_alloc_bytes"], metrics["go_goroutines"]
	for _, status := range []string{"available", "pending", "sold"} {
		into.Animals += metrics[`petstore_pets{status="`+status+`"}`]
	}
	if s.ID == result.SQLite {
		for name, size := range map[string]*int64{"petstore.db": &into.Database, "petstore.db-wal": &into.Log} {
			if info, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
				*size = info.Size()
			}
		}
		return nil
	}
	return b.postgres.do("soak", func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SELECT pg_database_size(current_database()), (SELECT sum(size)::bigint FROM pg_ls_waldir())").Scan(&into.Database, &into.Log)
	})
}

// soakMix is every kind of operation, mostly reads. All that is created is deleted again, and what is read and updated
// is never deleted, so every right answer is known before.
func soakMix(rows int64, keys string) []load.Request {
	requests := petstoreLines(rows)
	list, read, create := requests[result.Hot][0], requests[result.Get][0], requests[result.Create][0]
	once := load.NewRequest(http.MethodPost, "/v1/pets", apiKey+"\r\nIdempotency-Key: "+keys+"-{}", newPet, &load.Numbers{First: 1, Last: 1_000_000_007, Each: true}, http.StatusCreated)
	remove := load.NewRequest(http.MethodDelete, "/v1/pets/{}", apiKey, "", &load.Numbers{}, http.StatusNoContent)
	mix := []load.Request{
		list.Times(700),
		requests[result.Distinct][0].Times(450),
		get("/v1/pets?status=available", nil).Times(100),
		read.Times(550),
		requests[result.Inventory][0].Times(50),
		get("/v1/orders", nil).Times(25),
		// An animal comes and goes: seen in between, sent twice with one key, ordered and adopted, ordered and cancelled.
		create.Then("id", read.Then("id", remove)).Times(25),
		once.Then("", once.Then("id", remove)).Times(25),
		create.Then("id", order.Then("id", onOrder("complete").Then("petId", remove))).Times(25),
		create.Then("id", order.Then("id", get("/v1/orders/{}", &load.Numbers{}).Then("id", onOrder("cancel").Then("petId", remove)))).Times(25),
	}
	for _, update := range requests[result.Update] {
		mix = append(mix, update.Times(2))
	}
	return mix
}

// runSoakPage draws the plots of soaks into docs/img and prints their tables.
func runSoakPage(files []string) error {
	for _, name := range files {
		run, err := soak.Load(name)
		if err != nil {
			return err
		}
		image := "soak-" + run.Store + ".svg"
		if err := os.WriteFile(filepath.Join(root, "docs", "img", image), run.SVG(), 0o644); err != nil {
			return err
		}
		fmt.Printf("![%s over time](img/%s)\n\n%s\n", run.Name, image, run.Table())
	}
	return nil
}
