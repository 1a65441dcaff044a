package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"petstore/bench/baseline"
	"petstore/bench/load"
	"petstore/bench/report"
)

// measure takes all measurements of the run.
func (b *bench) measure(skip []string) error {
	var byShare []report.Key
	for _, share := range b.run.Settings.Shares {
		byShare = append(byShare, report.Key{Connections: report.Busy, Share: share})
	}
	if err := b.measureGroups(report.Groups); err != nil {
		return err
	}
	for _, step := range []struct {
		name    string
		measure func() error
	}{
		{"rates", func() error { return b.measureInTurn(b.services, [][]report.Line{report.Steady}, 1, byShare...) }},
		{"growth", b.measureGrowth}, {"replicas", b.measureReplicas}, {"starts", b.measureStarts}, {"build", b.measureBuild},
	} {
		if slices.Contains(skip, step.name) {
			continue
		}
		if err := step.measure(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// measureGroups measures groups of lines with every number of connections.
func (b *bench) measureGroups(groups [][]report.Line) error {
	var keys []report.Key
	for _, n := range b.run.Settings.Connections {
		keys = append(keys, report.Key{Connections: n})
	}
	return b.measureInTurn(b.services, groups, b.run.Settings.Rounds, keys...)
}

// measureInTurn measures groups of lines on several services, round by round. Each round measures every line of the group, with
// every key, on every service, so that other load on the machine affects all alike. Each round has another order of services.
// After each group, measureInTurn saves the measurements so far.
func (b *bench) measureInTurn(services []*service, groups [][]report.Line, rounds int, keys ...report.Key) error {
	type turn struct {
		report.Key
		services []*service
	}
	for _, group := range groups {
		var turns []turn
		for _, line := range group {
			for _, key := range keys {
				key.Line = line.ID
				turns = append(turns, turn{key, slices.DeleteFunc(slices.Clone(services), func(s *service) bool { return !s.takes(key) })})
			}
		}
		for round := range rounds {
			for _, turn := range turns {
				for i := range turn.services {
					s := turn.services[(i+round)%len(turn.services)]
					if err := b.measureOnce(s, turn.Key, round); err != nil {
						return fmt.Errorf("%s, %s: %w", s.Name, turn.Line, err)
					}
				}
			}
		}
		for _, turn := range turns {
			for _, s := range turn.services {
				b.print(s.key(turn.Key), s.Name)
			}
		}
		if err := b.keep("the bench ended before everything was measured"); err != nil {
			return err
		}
	}
	return nil
}

// takes reports whether the service takes part in a measurement. At few connections, peers only create animals, and nothing
// sends an Idempotency-Key. A ceiling is measured where targets are: at one connection, and at many.
func (s *service) takes(key report.Key) bool {
	switch {
	case s.lines[key.Line] == nil:
		return false
	case key.Connections == report.Busy:
		return true
	case s.Peer:
		return key.Line == report.Create
	}
	if key.Connections > 1 && strings.HasPrefix(s.ID, report.Ceiling) {
		return false
	}
	return key.Line != report.CreateKeyed && key.Line != report.UpdateKeyed
}

// key returns the given key with the subject of this service.
func (s *service) key(key report.Key) report.Key {
	key.Subject, key.Rows, key.Replicas = s.ID, s.rows, s.replicas
	return key
}

// measureOnce takes one measurement. If the key asks for a constant rate, the rate is a share of the service's highest
// throughput.
func (b *bench) measureOnce(s *service, key report.Key, round int) (err error) {
	job := load.Job{
		Address: s.address, Connections: key.Connections, Requests: s.lines[key.Line], Seed: uint64(round + 1),
		Warmup: b.run.Settings.Warmup, Duration: b.run.Settings.Duration, Server: s.pids, Stores: s.stores,
	}
	if key.Share > 0 {
		most := b.run.Cell(s.key(report.Key{Line: key.Line, Connections: key.Connections})).Of("throughput").Median()
		job.Rate, job.Duration = key.Share*most, b.run.Settings.Steady
		if most == 0 {
			return nil
		}
	}
	shot := report.Shot{Key: s.key(key), Round: round}
	if err := b.drive(job, func(r load.Result) { shot.Result = r }); err != nil {
		return err
	}
	if shot.Failed > 0 {
		fmt.Printf("%s, %s: %d wrong answers, the first: %s\n", s.Name, key.Line, shot.Failed, shot.Failure)
	}
	shot.Resident = load.Resident(s.pids...)
	b.run.Shots = append(b.run.Shots, shot)
	time.Sleep(50 * time.Millisecond) // lets the servers clean up closed connections before the next measurement
	for _, s := range b.services {    // the logs of a long run must not fill the disk or slow down later measurements
		err = errors.Join(err, os.Truncate(s.log, 0))
	}
	return err
}

// print prints the measurements for one key.
func (b *bench) print(key report.Key, name string) {
	cell, ratio := b.run.Cell(key), b.run.Ratio(key)
	rate, of := cell.Of("throughput"), func(measure string) float64 { return cell.Of(measure).Median() }
	fmt.Printf("%-10s %2d %8d rows %d replicas %3.0f %%  %-30s %8.0f/s (%.0f–%.0f)  %.2f (%.2f–%.2f)  p50 %6.0f p99 %6.0f p99.9 %6.0f µs  CPU %5.1f + %.1f µs\n",
		key.Line, key.Connections, key.Rows, key.Replicas, 100*key.Share, name, rate.Median(), rate.Min(), rate.Max(),
		ratio.Median(), ratio.Min(), ratio.Max(), of("p50"), of("p99"), of("p99.9"), of("cpu"), of("stores"))
}

// measureGrowth measures, on each store, the lines that must not become slower as rows are added.
func (b *bench) measureGrowth() error {
	b.stopServices()
	for _, store := range b.run.Stores() {
		for _, rows := range b.run.Settings.Growth {
			began := time.Now()
			s, err := b.petstore(store.ID, fmt.Sprint("growth_", rows), rows)
			if err != nil {
				return err
			}
			s.rows, s.lines[report.Get][0].InTurn = rows, true
			b.services = append(b.services, s)
			fmt.Printf("%s: added %s rows in %.0f s\n", s.Name, report.Count(rows), time.Since(began).Seconds())
		}
		if store.ID == report.SQLite {
			if err := b.measureEngine(b.services[len(b.services)-1]); err != nil {
				return err
			}
		}
		if err := b.measureInTurn(b.services, slices.Collect(slices.Chunk(report.Growing, 1)), b.run.Settings.Rounds, report.Key{Connections: report.Busy}); err != nil {
			return err
		}
		b.stopServices()
	}
	return nil
}

// measureEngine measures how fast SQLite alone reads the file of a petstore. It adds the minimal program on the same file to
// the services.
func (b *bench) measureEngine(s *service) error {
	path := filepath.Join(s.dir, "petstore.db")
	for round := range b.run.Settings.Rounds {
		for _, line := range []string{report.Distinct, report.Get} {
			n, err := baseline.Engine(path, s.rows, line == report.Distinct, b.run.Settings.Duration)
			if err != nil {
				return err
			}
			shot := report.Shot{Key: report.Key{Subject: report.Engine, Line: line, Connections: report.Busy, Rows: s.rows}, Round: round}
			shot.Requests, shot.Elapsed = n, b.run.Settings.Duration
			b.run.Shots = append(b.run.Shots, shot)
		}
	}
	minimal := b.newService(report.Subject{ID: report.Ceiling + s.ID, Name: "ceiling, SQLite"}, lines{})
	minimal.rows = s.rows
	for _, line := range []string{report.Hot, report.Distinct, report.Get} {
		minimal.lines[line] = s.lines[line]
	}
	_, err := minimal.launch(selfCommand("ceiling", minimal.address, "sqlite:"+path))
	if err == nil {
		b.services = append(b.services, minimal)
	}
	return err
}

// measureReplicas measures increasing numbers of replicas behind HAProxy. The replicas share one PostgreSQL and one Redis.
func (b *bench) measureReplicas() error {
	b.stopServices()
	if _, err := exec.LookPath("haproxy"); err != nil || b.redis == nil {
		b.leaveOut("Replicas", errors.New("they need PostgreSQL, Redis and HAProxy (Debian: apt-get install haproxy)"))
		return nil
	}
	if err := b.seedPostgres("replicas", rows); err != nil {
		return err
	}
	for _, n := range b.run.Settings.Replicas {
		balanced, err := b.startBalanced("replicas", n)
		if err == nil {
			err = b.measureInTurn([]*service{balanced}, slices.Collect(slices.Chunk(report.Replicated, 1)), b.run.Settings.Rounds, report.Key{Connections: report.Busy})
		}
		if err != nil {
			return err
		}
		b.stopServices()
	}
	return nil
}

// measureStarts measures how long the program takes from its start to its first answer. It uses a new database and a filled
// database. It also measures how much memory the program uses at rest.
func (b *bench) measureStarts() error {
	filled := report.Count(rows) + " animals"
	for _, r := range []report.Start{{Subject: report.SQLite, State: "new database"}, {Subject: report.SQLite, State: filled}, {Subject: report.Postgres, State: filled}} {
		if r.Subject == report.Postgres && b.redis == nil {
			continue
		}
		s, url := b.newService(b.subject(r.Subject), petstoreLines(rows)), ""
		if r.State == filled {
			var err error
			if url, err = b.seed(s, "starts", rows); err != nil {
				return err
			}
		}
		for i := range b.run.Settings.Rounds {
			if r.State != filled {
				url = fmt.Sprintf("sqlite:%s/new-%d.db", s.dir, i)
			}
			began := time.Now()
			if _, err := s.launch(b.serve(s, url)); err != nil {
				return err
			}
			r.Times = append(r.Times, time.Since(began))
			time.Sleep(time.Second) // lets the program come to rest
			r.Resident = max(r.Resident, load.Resident(s.Pid))
			s.stop()
		}
		b.run.Starts = append(b.run.Starts, r)
		fmt.Printf("start, %s, %s: %v, %d MiB at rest\n", r.Subject, r.State, r.Times, r.Resident>>20)
	}
	return nil
}

// measureBuild measures how long the first build of the program takes. The build cache is empty, but all modules are
// downloaded.
func (b *bench) measureBuild() error {
	build := b.build(os.DevNull)
	build.Env = append(build.Env, "GOCACHE="+filepath.Join(b.scratch, "cache"))
	began := time.Now()
	err := runCommand(build)
	b.run.Build = time.Since(began)
	fmt.Printf("first build: %v\n", b.run.Build)
	return err
}

// profileLines writes, for every line, a CPU profile of petstore under load.
func (b *bench) profileLines(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, s := range b.services {
		for _, line := range report.Lines {
			if s.admin == "" {
				continue
			}
			file, written := filepath.Join(folder, s.ID+"-"+line.ID+".pprof"), make(chan error)
			go func() {
				time.Sleep(b.run.Settings.Warmup)
				profile, err := s.askAdmin(fmt.Sprintf("/debug/pprof/profile?seconds=%.0f", max(1, b.run.Settings.Duration.Seconds())))
				written <- errors.Join(err, os.WriteFile(file, []byte(profile), 0o644))
			}()
			err := b.measureOnce(s, report.Key{Line: line.ID, Connections: report.Busy}, 0)
			if err := errors.Join(err, <-written); err != nil {
				return err
			}
			fmt.Println(file)
		}
	}
	return nil
}
