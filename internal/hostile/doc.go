// Package hostile attacks the real program, as a process, the way hostile and broken clients do: slowly, by the thousand,
// with what is not HTTP and with what is HTTP only for some. It has tests only.
//
// The attacks are one table in attacks_test.go; a new one is a function that takes the target and a line there. While an
// attack runs, a client that behaves well asks and stores all the time: each of its requests must be answered as if nobody
// attacked. Its times are reported and decide nothing. Afterwards the server must come back to where it was, in memory,
// goroutines and open files, with neither a panic nor a 500 in its log.
//
// -hard makes every attack ten times as big, and -report FILE writes the results as a table; make hostile does both.
package hostile
