package main

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"petstore/bench/load"
	"petstore/bench/report"
)

// runSoak puts petstore under a constant load for a long time, and records figures to see whether any of them grows.
func runSoak(args []string) error {
	flags := flag.NewFlagSet("soak", flag.ExitOnError)
	store := flags.String("store", report.SQLite, "sqlite or postgres (with Redis)")
	length := flags.Duration("for", time.Hour, "how long the run takes")
	rate := flags.Float64("rate", 0, "requests per second; 0 means half of what a run of 10 seconds reaches first")
	every := flags.Duration("every", 10*time.Second, "how often a sample is taken")
	out := flags.String("out", "soak.json", "the file for the samples")
	dir := flags.String("dir", "", "the folder for databases (default: the folder for temporary files)")
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
		err := b.drive(job, func(most load.Result) {
			*rate = most.Throughput() / 2
			fmt.Printf("The highest throughput is %.0f requests per second, with %d failures %s\n", 2**rate, most.Failed, most.Failure)
		})
		if err != nil {
			return err
		}
	}
	job.Rate, job.Every, job.Duration, job.Seed = *rate, *every, *length, 2
	job.Requests = soakMix("soak") // uses other idempotency keys than the first measurement
	fmt.Printf("%s at %.0f requests per second for %v, samples in %s\n", s.Name, *rate, *length, *out)
	soak, began := report.Soak{Run: b.run, Rate: *rate, Watched: watched}, time.Now()
	if err := report.Save(*out, soak); err != nil {
		return err
	}
	err = b.drive(job, func(r load.Result) {
		sample, err := b.sample(s, time.Since(began), r)
		soak.Samples = append(soak.Samples, sample)
		// Saving now and then keeps the samples of a run that is killed. Saving more often would disturb the measurement.
		if len(soak.Samples)%60 == 0 {
			err = errors.Join(err, report.Save(*out, soak))
		}
		if err := errors.Join(err, os.Truncate(s.log, 0)); err != nil {
			fmt.Println("sample:", err)
		}
		fmt.Printf("%v: %.0f/s, %d failed, %.3g\n", sample.At.Round(time.Second), r.Throughput(), soak.Sum().Failed, sample.Figures)
	})
	if table, err := soak.Table(); err == nil {
		fmt.Printf("\n%s\n", table)
	}
	return errors.Join(err, report.Save(*out, soak))
}

// watched names the figures of a sample.
var watched = []string{"p50, ms", "p99, ms", "p99.9, ms", "slowest, ms", "memory (RSS), MiB", "Go heap, MiB", "goroutines", "open files",
	"write-ahead log, MiB", "database, MiB", "animals", "CPU of petstore, µs/request", "CPU of the stores, µs/request"}

// sample combines the result of an interval with the server's use of resources at the end of the interval.
func (b *bench) sample(s *service, at time.Duration, r load.Result) (report.Sample, error) {
	files, err1 := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.Pid))
	metrics, err2 := s.metrics()
	var database, log int64
	var err3 error
	if s.ID == report.SQLite {
		for name, size := range map[string]*int64{"petstore.db": &database, "petstore.db-wal": &log} {
			if info, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
				*size = info.Size()
			}
		}
	} else {
		err3 = b.postgres.sql("soak", "SELECT pg_database_size(current_database()), (SELECT sum(size)::bigint FROM pg_ls_waldir())", &database, &log)
	}
	millis := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	const mib = 1 << 20
	return report.Sample{At: at, Load: r, Figures: report.Figures{
		millis(r.P50), millis(r.P99), millis(r.P999), millis(r.Max), float64(load.Resident(s.Pid)) / mib,
		metrics["go_memstats_heap_alloc_bytes"] / mib, metrics["go_goroutines"], float64(len(files)), float64(log) / mib, float64(database) / mib,
		metrics[`petstore_pets{status="available"}`] + metrics[`petstore_pets{status="pending"}`] + metrics[`petstore_pets{status="sold"}`],
		r.PerRequest(r.ServerCPU), r.PerRequest(r.StoresCPU),
	}}, errors.Join(err1, err2, err3)
}

// soakMix returns requests for every kind of operation, mostly reads. The mix deletes all animals that it creates. It never
// deletes the animals that it reads and updates. The right answer to every request is therefore known in advance.
func soakMix(keys string) []load.Request {
	requests := petstoreLines(rows)
	list, read, create := requests[report.Hot][0], requests[report.Get][0], requests[report.Create][0]
	once := keyedCreate(keys)
	remove := load.NewRequest(http.MethodDelete, "/v1/pets/{}", apiKey, "", http.StatusNoContent)
	mix := []load.Request{
		list.Times(700),
		requests[report.Distinct][0].Times(450),
		get("/v1/pets?status=available").Times(100),
		read.Times(550),
		requests[report.Inventory][0].Times(50),
		get("/v1/orders").Times(25),
		// Each of these requests creates an animal and finally deletes the animal. In between, the first reads the animal,
		// the second sends the create again with the same idempotency key, the third completes an order for the animal, and
		// the fourth cancels an order.
		create.Then("id", read.Then("id", remove)).Times(25),
		once.Then("", once.Then("id", remove)).Times(25),
		create.Then("id", order.Then("id", closeOrder("complete").Then("petId", remove))).Times(25),
		create.Then("id", order.Then("id", get("/v1/orders/{}").Then("id", closeOrder("cancel").Then("petId", remove)))).Times(25),
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
