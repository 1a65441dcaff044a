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
	"petstore/bench/report"
)

// runSoak drives petstore at a constant rate for a long time and watches whether anything grows.
func runSoak(args []string) error {
	flags := flag.NewFlagSet("soak", flag.ExitOnError)
	store := flags.String("store", report.SQLite, "sqlite or postgres (with Redis)")
	length := flags.Duration("for", time.Hour, "how long")
	rate := flags.Float64("rate", 0, "requests a second; 0 is half of what a 10-second run reaches on the spot")
	every := flags.Duration("every", 10*time.Second, "how often a sample is taken")
	out := flags.String("out", "soak.json", "the file for the samples")
	dir := flags.String("dir", "", "the folder for databases (that for temporary files)")
	flags.Parse(args)
	if *store != report.SQLite && *store != report.Postgres {
		return fmt.Errorf("there is no store %q; use sqlite or postgres", *store)
	}
	b, err := newBench(*dir, 0, 0)
	if err != nil {
		return err
	}
	defer b.close()
	if *store == report.Postgres {
		if err := b.startStores(); err != nil {
			return err
		}
	}
	s, err := b.petstore(*store, "soak", rows)
	if err != nil {
		return err
	}
	b.add(s)
	job := load.Job{
		Address: s.address, Connections: report.Busy, Requests: soakMix("try"), Duration: 10 * time.Second,
		Seed: 1, Server: []int{s.Pid}, Stores: s.stores,
	}
	if *rate == 0 {
		most, err := b.drive(job, nil)
		if err != nil {
			return err
		}
		*rate = most.Throughput() / 2
		fmt.Printf("The closed loop reached %.0f requests a second with %d failures %s\n", 2**rate, most.Failed, most.Failure)
	}
	job.Rate, job.Every, job.Duration, job.Seed = *rate, *every, *length, 2
	job.Requests = soakMix("soak") // with idempotency keys of its own
	fmt.Printf("%s at %.0f requests a second for %v, samples in %s\n", s.Name, *rate, *length, *out)
	soak, began := report.Soak{Run: b.run, Rate: *rate}, time.Now()
	whole, err := b.drive(job, func(r load.Result) {
		sample := report.Sample{At: time.Since(began), Result: r}
		err := b.sample(s, &sample)
		soak.Samples = append(soak.Samples, sample)
		// The file is whole after every sample, so that a run which breaks off is worth what it has measured.
		if err := errors.Join(err, report.Save(*out, soak), s.emptyLog()); err != nil {
			fmt.Println("sample:", err)
		}
		if n := len(soak.Samples); n%max(1, int(time.Minute / *every)) == 1 || *every >= time.Minute {
			fmt.Printf("%6s  %7.0f/s  %d failed  p50 %v  p99 %v  p99.9 %v  slowest %v  %d MiB, heap %.0f MiB, %.0f goroutines, %d files, log %.1f MiB, database %.1f MiB, %.0f animals\n",
				sample.At.Round(time.Second), r.Throughput(), soak.Sum().Failed, r.P50, r.P99, r.P999, r.Max, sample.Resident>>20, sample.Heap/(1<<20),
				sample.Goroutines, sample.Files, float64(sample.Log)/(1<<20), float64(sample.Database)/(1<<20), sample.Animals)
		}
	})
	if table, err := soak.Table(); err == nil {
		fmt.Printf("\n%s\nThe whole: p50 %v, p99 %v, p99.9 %v, slowest %v\n", table, whole.P50, whole.P99, whole.P999, whole.Max)
	}
	return err
}

// sample reads what the server holds.
func (b *bench) sample(s *service, into *report.Sample) error {
	into.Resident = load.Resident(s.Pid)
	files, err1 := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.Pid))
	metrics, err2 := s.metrics()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	into.Files, into.Heap, into.Goroutines = len(files), metrics["go_memstats_heap_alloc_bytes"], metrics["go_goroutines"]
	for _, status := range []string{"available", "pending", "sold"} {
		into.Animals += metrics[`petstore_pets{status="`+status+`"}`]
	}
	if s.ID == report.SQLite {
		for name, size := range map[string]*int64{"petstore.db": &into.Database, "petstore.db-wal": &into.Log} {
			if info, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
				*size = info.Size()
			}
		}
		return nil
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, b.postgres.url("soak"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return conn.QueryRow(ctx, "SELECT pg_database_size(current_database()), (SELECT sum(size)::bigint FROM pg_ls_waldir())").Scan(&into.Database, &into.Log)
}

// soakMix is every kind of operation, mostly reads. All that is created is deleted again, and what is read and updated
// is never deleted, so every right answer is known before.
func soakMix(keys string) []load.Request {
	requests := petstoreLines(rows)
	list, read, create := requests[report.Hot][0], requests[report.Get][0], requests[report.Create][0]
	once := load.NewRequest(http.MethodPost, "/v1/pets", apiKey+"\r\nIdempotency-Key: "+keys+"-{}", newPet, &load.Numbers{First: 1, Last: 1_000_000_007, Each: true}, http.StatusCreated)
	remove := load.NewRequest(http.MethodDelete, "/v1/pets/{}", apiKey, "", &load.Numbers{}, http.StatusNoContent)
	mix := []load.Request{
		list.Times(700),
		requests[report.Distinct][0].Times(450),
		get("/v1/pets?status=available", nil).Times(100),
		read.Times(550),
		requests[report.Inventory][0].Times(50),
		get("/v1/orders", nil).Times(25),
		// An animal comes and goes: seen in between, sent twice with one key, ordered and adopted, ordered and cancelled.
		create.Then("id", read.Then("id", remove)).Times(25),
		once.Then("", once.Then("id", remove)).Times(25),
		create.Then("id", order.Then("id", onOrder("complete").Then("petId", remove))).Times(25),
		create.Then("id", order.Then("id", get("/v1/orders/{}", &load.Numbers{}).Then("id", onOrder("cancel").Then("petId", remove)))).Times(25),
	}
	for _, update := range requests[report.Update] {
		mix = append(mix, update.Times(2))
	}
	return mix
}

// runSoakPage draws the plots of soaks into docs/img and prints their tables.
func runSoakPage(files []string) error {
	for _, name := range files {
		soak, err := report.Load[report.Soak](name)
		if err != nil {
			return err
		}
		table, err := soak.Table()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		subject := soak.Run.Subjects[0]
		image := "soak-" + subject.ID + ".svg"
		if err := soak.Draw(filepath.Join(root, "docs", "img", image)); err != nil {
			return err
		}
		fmt.Printf("![%s over time](img/%s)\n\n%s\n", subject.Name, image, table)
	}
	return nil
}
