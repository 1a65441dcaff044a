package page

import (
	"fmt"
	"slices"

	"petstore/bench/result"
)

// view is the run as the template sees it.
type view struct{ *result.Run }

// row is one subject of a table.
type row struct {
	Subject     result.Subject
	Connections int
	result.Cell
	Ratio result.Figures // to bare
}

// Lines are those that were measured.
func (v view) Lines() (lines []result.Line) {
	for _, line := range result.Lines {
		if slices.ContainsFunc(v.Shots, func(s result.Shot) bool { return s.Line == line.ID }) {
			lines = append(lines, line)
		}
	}
	return lines
}

// Rows are the table of one line: petstore, bare and what it is compared with, at every number of connections.
func (v view) Rows(line string) (rows []row) {
	for _, connections := range v.Settings.Connections {
		for _, s := range v.Subjects {
			if !s.Peer {
				rows = v.appendRow(rows, s, line, connections)
			}
		}
	}
	return rows
}

// Peers are the table of one line with everything that others have made.
func (v view) Peers(line string) (rows []row) {
	for _, s := range v.Subjects {
		if s.Peer || s.ID == result.Bare || s.ID == result.SQLite || s.ID == result.Postgres {
			rows = v.appendRow(rows, s, line, result.Busy)
		}
	}
	return rows
}

func (v view) appendRow(rows []row, s result.Subject, line string, connections int) []row {
	cell, ok := v.Cell(s.ID, line, connections)
	if !ok {
		return rows
	}
	return append(rows, row{s, connections, cell, v.Ratio(s.ID, result.Bare, line, connections)})
}

// Others are the subjects that others have made.
func (v view) Others() (peers []result.Subject) {
	for _, s := range v.Subjects {
		if s.Peer {
			peers = append(peers, s)
		}
	}
	return peers
}

// Stores are the stores that petstore was measured on.
func (v view) Stores() (stores []result.Subject) {
	for _, id := range []string{result.SQLite, result.Postgres} {
		if s, ok := v.Subject(id); ok {
			stores = append(stores, s)
		}
	}
	return stores
}

// Busy is the number of connections at which the targets hold.
func (v view) Busy() int { return result.Busy }

// Score counts the targets of the run.
func (v view) Score() (s struct{ Reached, All int }) {
	targets := []result.Target{v.BinaryTarget()}
	for _, store := range v.Stores() {
		targets = append(targets, v.Targets(store.ID)...)
	}
	for _, t := range targets {
		if !t.Measured() {
			continue
		}
		s.All++
		if t.Reached() {
			s.Reached++
		}
	}
	return s
}

// Wrong is the number of wrong answers.
func (v view) Wrong() int64 {
	n, _ := v.Failures()
	return n
}

// PeersWrong says how many answers of peers were wrong and names the first, "" if none was.
func (v view) PeersWrong() string {
	n, first := v.PeerFailures()
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d answers of peers were wrong, the first: %s.", n, first)
}

// OfBare is the share of bare that a subject does of a line.
func (v view) OfBare(subject, line string) result.Figures {
	return v.Ratio(subject, result.Bare, line, result.Busy)
}

// LoadCost is what the load itself takes of the processors for a request, beside what it measures.
func (v view) LoadCost() result.Figures {
	cell, _ := v.Cell(result.Bare, result.Hot, result.Busy)
	return cell.LoadCPU
}
