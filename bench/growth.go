package main

import (
	"fmt"
	"time"

	"petstore/bench/result"
)

// measureGrowth measures, on each store, what must not depend on the number of rows.
func (b *bench) measureGrowth() error {
	stores := map[string]func(name string, rows int64) (*server, error){result.SQLite: b.startSQLite, result.Postgres: b.startPostgres}
	for _, subject := range []string{result.SQLite, result.Postgres} {
		if _, measured := b.run.Subject(subject); !measured {
			continue
		}
		if err := b.measureGrowthOf(stores[subject]); err != nil {
			return err
		}
		b.stopServers()
	}
	return nil
}

// measureGrowthOf starts a petstore for each size and measures them in turn.
func (b *bench) measureGrowthOf(open func(name string, rows int64) (*server, error)) error {
	for _, rows := range b.run.Settings.Growth {
		start := time.Now()
		s, err := open(fmt.Sprint("growth_", rows), rows)
		if err != nil {
			return err
		}
		fmt.Printf("%s on %s rows, filled in %.0f s\n", s.Name, result.Count(rows), time.Since(start).Seconds())
		s.lines = petstoreLines(rows)
		s.lines[result.Get][0].Numbers.Each = true
		b.servers = append(b.servers, s)
		if err := checkPetstore(s, rows); err != nil {
			return fmt.Errorf("%s on %s rows does not answer as it should: %w", s.Name, result.Count(rows), err)
		}
	}
	for _, line := range result.Growing {
		for round := range b.run.Settings.Rounds {
			for i := range b.servers {
				i = (i + round) % len(b.servers)
				shot, err := b.shoot(b.servers[i], line.ID, result.Busy, round)
				if err != nil {
					return err
				}
				shot.Rows = b.run.Settings.Growth[i]
				b.run.Growth = append(b.run.Growth, shot)
			}
		}
		b.printGrowth(b.servers[0].Subject, line.ID)
	}
	return nil
}

func (b *bench) printGrowth(s result.Subject, line string) {
	for _, rows := range b.run.Settings.Growth {
		rate, ratio := b.run.GrownThroughput(s.ID, line, rows), b.run.Grown(s.ID, line, rows)
		fmt.Printf("%-10s %-32s %12s rows %8.0f/s (%.0f–%.0f)  %.2f (%.2f–%.2f)\n", line, s.Name, result.Commas(rows),
			rate.Median(), rate.Min(), rate.Max(), ratio.Median(), ratio.Min(), ratio.Max())
	}
}
