package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"petstore/bench/load"
	"petstore/bench/proc"
	"petstore/bench/result"
)

// measure does the whole run.
func (b *bench) measure() error {
	if err := b.startServers(); err != nil {
		return err
	}
	if err := b.measureLines(); err != nil {
		return err
	}
	b.stopServers()
	if err := b.measureGrowth(); err != nil {
		return err
	}
	b.stopServers()
	return b.measureStarts()
}

// startServers starts everything that the lines are measured on and checks its answers.
func (b *bench) startServers() error {
	sqlite, err := b.startSQLite("lines", b.run.Settings.Rows)
	if err != nil {
		return err
	}
	if err := checkPetstore(sqlite, b.run.Settings.Rows); err != nil {
		return fmt.Errorf("petstore on SQLite does not answer as it should: %w", err)
	}
	if err := b.startBare(sqlite); err != nil {
		return err
	}
	b.add(sqlite)
	if err := errors.Join(b.startStores(), b.addPostgres()); err != nil {
		b.leaveOut("petstore on PostgreSQL and Redis", err)
	}
	if err := b.addOneCommit(); err != nil {
		return err
	}
	if b.peers {
		b.addPeers()
	}
	return nil
}

// startSQLite starts petstore on a new SQLite file with that many animals.
func (b *bench) startSQLite(name string, rows int64) (*server, error) {
	dir, err := folder(b.scratch, "sqlite-"+name)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "petstore.db")
	if err := b.seedSQLite(file, rows); err != nil {
		return nil, fmt.Errorf("filling SQLite: %w", err)
	}
	return b.startPetstore(result.Subject{ID: result.SQLite, Name: "petstore, SQLite",
		Detail: "as shipped; WAL, synchronous=FULL: a create is on the disk when it is acknowledged"}, dir, "sqlite:"+file, "")
}

// startPostgres starts petstore on a new PostgreSQL database with that many animals.
func (b *bench) startPostgres(name string, rows int64) (*server, error) {
	dir, err := folder(b.scratch, "postgres-"+name)
	if err != nil {
		return nil, err
	}
	if err := b.seedPostgres(name, rows); err != nil {
		return nil, fmt.Errorf("filling PostgreSQL: %w", err)
	}
	return b.startPetstore(result.Subject{ID: result.Postgres, Name: "petstore, PostgreSQL + Redis",
		Detail: fmt.Sprintf("as shipped; PostgreSQL %s with its own settings (fsync and synchronous_commit on) and Redis %s on the same machine", b.postgres.version, b.redis.version)},
		dir, b.postgres.url(name), "redis://"+b.redis.address, b.postgres.Pid, b.redis.Pid)
}

func (b *bench) addPostgres() error {
	if b.redis == nil {
		return nil
	}
	s, err := b.startPostgres("lines", b.run.Settings.Rows)
	if err != nil {
		return err
	}
	if err := checkPetstore(s, b.run.Settings.Rows); err != nil {
		s.stop()
		return fmt.Errorf("it does not answer as it should: %w", err)
	}
	b.add(s)
	return nil
}

// startBare gives a bare handler the answers of petstore.
func (b *bench) startBare(petstore *server) error {
	dir, err := folder(b.scratch, "bare")
	if err != nil {
		return err
	}
	bodies := make(map[string][]byte)
	for line, file := range map[string]string{result.Hot: "list", result.Get: "get", result.Create: "created", result.Inventory: "inventory"} {
		_, body, err := petstore.lines[line][0].Ask(petstore.address, b.run.Settings.Rows)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, file), body, 0o644); err != nil {
			return err
		}
		bodies[line] = body
	}
	s, err := b.startChild(result.Subject{ID: result.Bare, Name: "bare net/http", Detail: "writes the same bytes and does nothing else"}, "bare", dir, dir, petstore.lines)
	if err != nil {
		return err
	}
	b.add(s)
	if err := checkBare(s, bodies); err != nil {
		return err
	}
	return b.startDressed(petstore, dir)
}

// startDressed gives another one the headers of petstore's hot page too.
func (b *bench) startDressed(petstore *server, dir string) error {
	lines := only(petstore.lines, result.Hot)
	list, _, err := lines[result.Hot][0].Ask(petstore.address, 0)
	if err != nil {
		return err
	}
	headers := list.Header.Clone()
	for _, name := range []string{"Date", "Content-Length"} {
		headers.Del(name) // net/http adds them by itself
	}
	text, err := json.Marshal(headers)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "headers"), text, 0o644); err != nil {
		return err
	}
	s, err := b.startChild(result.Subject{ID: result.Dressed, Name: "bare, with petstore's headers",
		Detail: "bare that also sends the headers of petstore's hot page, always the same: what headers cost"}, "dressed", dir, dir, lines)
	if err != nil {
		return err
	}
	b.add(s)
	return nil
}

// measureLines measures every line at every number of connections, round by round and in turn, so that whatever else
// happens on the machine happens to all.
func (b *bench) measureLines() error {
	for _, line := range result.Lines {
		for _, connections := range b.run.Settings.Connections {
			for round := range b.run.Settings.Rounds {
				for i := range b.servers {
					s := b.servers[(i+round)%len(b.servers)]
					if s.lines[line.ID] == nil || (s.Peer && connections != result.Busy) {
						continue
					}
					shot, err := b.shoot(s, line.ID, connections, round)
					if err != nil {
						return err
					}
					b.run.Shots = append(b.run.Shots, shot)
				}
			}
			b.printCells(line, connections)
		}
	}
	return nil
}

// forgetEvery is less time than any petstore needs for as many answers as the smallest store has animals.
const forgetEvery = 100 * time.Millisecond

// shoot takes one measurement.
func (b *bench) shoot(s *server, line string, connections, round int) (result.Shot, error) {
	shot := result.Shot{Subject: s.ID, Line: line, Connections: connections, Round: round}
	if err := b.ctx.Err(); err != nil {
		return shot, errors.New("interrupted")
	}
	if s.admin != "" && s.lines[line][0].Numbers != nil && s.lines[line][0].Numbers.Each {
		defer s.keepForgetting()()
	}
	var err error
	shot.Result, err = drive(b.ctx, load.Job{
		Address:     s.address,
		Connections: connections,
		Requests:    s.lines[line],
		Warmup:      b.run.Settings.Warmup,
		Duration:    b.run.Settings.Duration,
		Seed:        uint64(round + 1),
		Server:      []int{s.Pid},
		Stores:      s.stores,
	}, nil)
	if err != nil {
		return shot, err
	}
	if shot.Failed > 0 {
		fmt.Printf("%s, %s: %d wrong answers, the first: %s\n", s.Name, line, shot.Failed, shot.Failure)
	}
	shot.Resident = proc.Resident(s.Pid)
	if err := s.emptyLog(); err != nil {
		return shot, err
	}
	time.Sleep(50 * time.Millisecond) // closed connections and their garbage are settled before the next is measured
	return shot, nil
}

// keepForgetting makes petstore forget the answers that it keeps encoded, by a create now and then: so on a line that asks
// for each thing once before any comes again, every answer is made from the store, however small that is.
func (s *server) keepForgetting() (stop func()) {
	done := make(chan struct{})
	var working sync.WaitGroup
	working.Go(func() {
		for every := time.NewTicker(forgetEvery); ; {
			s.lines[result.Create][0].Ask(s.address, 0) // if it fails, so does what is measured
			select {
			case <-every.C:
			case <-done:
				every.Stop()
				return
			}
		}
	})
	return func() { close(done); working.Wait() }
}

// printCells tells what a line has given at a number of connections.
func (b *bench) printCells(line result.Line, connections int) {
	for _, s := range b.servers {
		cell, ok := b.run.Cell(s.ID, line.ID, connections)
		if !ok {
			continue
		}
		ratio := b.run.Ratio(s.ID, result.Bare, line.ID, connections)
		fmt.Printf("%-22s %3d  %-32s %8.0f/s (%.0f–%.0f)  %.2f of bare (%.2f–%.2f)  p50 %6.0f µs  p99 %6.0f µs  %5.1f µs CPU  %3.0f MiB\n",
			line.Name, connections, s.Name, cell.Throughput.Median(), cell.Throughput.Min(), cell.Throughput.Max(),
			ratio.Median(), ratio.Min(), ratio.Max(), cell.P50.Median(), cell.P99.Median(), cell.CPU.Median(), cell.Resident.Median()/(1<<20))
	}
}
