package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"petstore/bench/load"
	"petstore/bench/result"
)

// measure does the whole run.
func (b *bench) measure() error {
	if err := b.startServices(); err != nil {
		return err
	}
	steps := []struct {
		name    string
		measure func() error
	}{
		{"lines", b.measureLines}, {"rates", b.measureRates}, {"growth", b.measureGrowth}, {"replicas", b.measureReplicas}, {"starts", b.measureStarts},
	}
	for _, step := range steps {
		if slices.Contains(strings.Split(b.skip, ","), step.name) {
			continue
		}
		if step.name == "growth" || step.name == "replicas" {
			b.stopServices()
		}
		if err := step.measure(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// startServices starts everything that the lines are measured on. What cannot be started is left out, except for the one
// that all are compared with.
func (b *bench) startServices() error {
	sqlite, err := b.petstore(result.SQLite, "", b.run.Settings.Rows)
	if err != nil {
		return err
	}
	bare, err := b.bare(sqlite, result.Subject{ID: result.Bare, Name: "bare net/http", Detail: "writes the same bytes and does nothing else"}, sqlite.lines)
	if err != nil {
		sqlite.stop()
		return err
	}
	b.add(bare)
	b.try("bare with headers", func() (*service, error) {
		return b.bare(sqlite, result.Subject{ID: result.Dressed, Name: "bare, with petstore's headers",
			Detail: "bare that also sends the headers of petstore's hot page, always the same: what headers cost"}, lines{result.Hot: sqlite.lines[result.Hot]})
	})
	b.add(sqlite)
	b.try("petstore on PostgreSQL and Redis", func() (*service, error) {
		if err := b.startStores(); err != nil {
			return nil, err
		}
		return b.petstore(result.Postgres, "lines", b.run.Settings.Rows)
	})
	b.try("plain Go on SQLite", b.plainSQLite)
	if b.redis != nil {
		b.try("plain Go on PostgreSQL", b.plainPostgres)
	}
	if b.peers {
		b.try("Gin", b.gin)
		b.try("PocketBase", b.pocketBase)
		b.try("json-server", b.jsonServer)
		b.try("Prism", b.prism)
	}
	return nil
}

// add takes a service into the run.
func (b *bench) add(s *service) {
	b.services = append(b.services, s)
	b.run.Subjects = append(b.run.Subjects, s.Subject)
}

// try adds a service, or notes why it is left out.
func (b *bench) try(name string, open func() (*service, error)) {
	s, err := open()
	if err != nil {
		b.leaveOut(name, err)
		return
	}
	b.add(s)
}

// measureLines measures every line at every number of connections.
func (b *bench) measureLines() error {
	return b.inTurn(b.services, result.Lines, b.run.Settings.Connections...)
}

// inTurn measures lines on services, round by round and each time in another order, so that whatever else happens on the
// machine happens to all. Of peers only creates are measured at few connections.
func (b *bench) inTurn(services []*service, what []result.Line, connections ...int) error {
	for _, line := range what {
		for _, n := range connections {
			key := result.Key{Line: line.ID, Connections: n}
			measured := slices.DeleteFunc(slices.Clone(services), func(s *service) bool {
				return s.lines[line.ID] == nil || s.Peer && n != result.Busy && line.ID != result.Create
			})
			for round := range b.run.Settings.Rounds {
				for i := range measured {
					if err := b.shoot(measured[(i+round)%len(measured)], key, round, 0); err != nil {
						return err
					}
				}
			}
			for _, s := range measured {
				b.print(s.key(key), s.Name)
			}
		}
	}
	return nil
}

// key makes a key this service's.
func (s *service) key(key result.Key) result.Key {
	key.Subject, key.Rows, key.Replicas = s.ID, s.rows, len(s.replicas)
	return key
}

// measureRates measures latencies at constant rates, which are shares of the highest throughput of each service.
func (b *bench) measureRates() error {
	for _, line := range result.Steady {
		for _, share := range b.run.Settings.Shares {
			for _, s := range b.services {
				key := s.key(result.Key{Line: line.ID, Connections: result.Busy})
				most := b.run.Cell(key).Throughput().Median()
				if most == 0 {
					continue
				}
				key.Share = share
				if err := b.shoot(s, key, 0, share*most); err != nil {
					return err
				}
				b.print(key, s.Name)
			}
		}
	}
	return nil
}

// measureGrowth measures, on each store, what must not depend on the number of rows.
func (b *bench) measureGrowth() error {
	for _, store := range b.stores() {
		for _, rows := range b.run.Settings.Growth {
			began := time.Now()
			s, err := b.petstore(store, fmt.Sprint("growth_", rows), rows)
			if err != nil {
				return err
			}
			s.rows, s.lines[result.Get][0].Numbers.Each = rows, true
			b.services = append(b.services, s)
			fmt.Printf("%s on %s rows, filled in %.0f s\n", s.Name, result.Count(rows), time.Since(began).Seconds())
		}
		if err := b.inTurn(b.services, result.Growing, result.Busy); err != nil {
			return err
		}
		b.stopServices()
	}
	return nil
}

// stores are those that petstore is measured on.
func (b *bench) stores() []string {
	if b.redis == nil {
		return []string{result.SQLite}
	}
	return []string{result.SQLite, result.Postgres}
}

// rest is how long a server has been left alone when its memory is read.
const rest = time.Second

// measureStarts measures how long the program takes from its command to its first answer, on a new database and on a
// filled one, and what it holds at rest.
func (b *bench) measureStarts() error {
	filled := result.Count(b.run.Settings.Rows) + " animals"
	for _, r := range []result.Start{{Subject: result.SQLite, State: "new database"}, {Subject: result.SQLite, State: filled}, {Subject: result.Postgres, State: filled}} {
		if !slices.Contains(b.stores(), r.Subject) {
			continue
		}
		s, url := b.newService(b.subject(r.Subject), petstoreLines(b.run.Settings.Rows)), ""
		if r.State == filled {
			var err error
			if url, err = b.seed(s, "starts", b.run.Settings.Rows); err != nil {
				return err
			}
		}
		for i := range 2 * b.run.Settings.Rounds {
			if r.State != filled {
				url = fmt.Sprintf("sqlite:%s/new-%d.db", s.dir, i)
			}
			began := time.Now()
			if err := b.serve(s, url); err != nil {
				return err
			}
			r.Times = append(r.Times, time.Since(began))
			time.Sleep(rest)
			r.Resident = max(r.Resident, load.Resident(s.Pid))
			s.stop()
		}
		b.run.Starts = append(b.run.Starts, r)
		fmt.Printf("start, %s, %s: %v, %d MiB at rest\n", r.Subject, r.State, r.Times, r.Resident>>20)
	}
	return nil
}

// shoot takes one measurement, at a constant rate unless that is 0.
func (b *bench) shoot(s *service, key result.Key, round int, rate float64) (err error) {
	if b.ctx.Err() != nil {
		return errors.New("interrupted")
	}
	job := load.Job{
		Address: s.address, Connections: key.Connections, Requests: s.lines[key.Line], Rate: rate,
		Warmup: b.run.Settings.Warmup, Duration: b.run.Settings.Duration, Seed: uint64(round + 1), Server: s.pids(), Stores: s.stores,
	}
	if rate > 0 {
		job.Duration = b.run.Settings.Steady
	}
	shot := result.Shot{Key: s.key(key), Round: round}
	if shot.Result, err = drive(b.ctx, job, nil); err != nil {
		return err
	}
	if shot.Failed > 0 {
		fmt.Printf("%s, %s: %d wrong answers, the first: %s\n", s.Name, key.Line, shot.Failed, shot.Failure)
	}
	shot.Resident = load.Resident(s.pids()...)
	b.run.Shots = append(b.run.Shots, shot)
	time.Sleep(50 * time.Millisecond) // closed connections and their garbage are settled before the next is measured
	for _, s := range b.services {
		err = errors.Join(err, s.emptyLog())
	}
	return err
}

// print tells what was measured of one key.
func (b *bench) print(key result.Key, name string) {
	cell := b.run.Cell(key)
	rate, ratio := cell.Throughput(), b.run.OfBare(key.Subject, key.Line, key.Connections)
	what := fmt.Sprint(key.Connections)
	switch {
	case key.Rows > 0:
		what, ratio = fmt.Sprint(key.Rows, " rows"), b.run.Grown(key.Subject, key.Line, key.Rows)
	case key.Share > 0:
		what, ratio = fmt.Sprintf("%.0f %%", 100*key.Share), nil
	case key.Replicas > 0:
		what, ratio = fmt.Sprint(key.Replicas, " replicas"), nil
	}
	fmt.Printf("%-10s %-13s %-30s %8.0f/s (%.0f–%.0f)  %.2f (%.2f–%.2f)  p50 %6.0f µs  p99 %6.0f µs  p99.9 %6.0f µs  CPU %5.1f + %.1f µs\n", key.Line, what, name,
		rate.Median(), rate.Min(), rate.Max(), ratio.Median(), ratio.Min(), ratio.Max(), cell.P50().Median(), cell.P99().Median(), cell.P999().Median(),
		cell.CPU().Median(), cell.StoresCPU().Median())
}

// profileLines writes, for every line at many connections, what petstore spends its processor time on under load.
func (b *bench) profileLines() error {
	if err := errors.Join(os.MkdirAll(b.profile, 0o755), b.startServices()); err != nil {
		return err
	}
	for _, s := range b.services {
		for _, line := range result.Lines {
			if s.admin == "" {
				continue
			}
			file, written := filepath.Join(b.profile, s.ID+"-"+line.ID+".pprof"), make(chan error)
			go func() {
				time.Sleep(b.run.Settings.Warmup)
				profile, err := s.ask(fmt.Sprintf("/debug/pprof/profile?seconds=%.0f", max(1, b.seconds)))
				written <- errors.Join(err, os.WriteFile(file, []byte(profile), 0o644))
			}()
			err := b.shoot(s, result.Key{Line: line.ID, Connections: result.Busy}, 0, 0)
			if err := errors.Join(err, <-written); err != nil {
				return err
			}
			fmt.Println(file)
		}
	}
	return nil
}
