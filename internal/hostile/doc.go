// Package hostile attacks the real program, in a process of its own, as hostile and broken clients do: slowly, with
// thousands of connections, with bytes that are not HTTP, and with requests that only some readers take for HTTP. The
// package has only tests.
//
// The attacks are in one table in attacks_test.go. A new attack is a function that takes the target, and a line in the
// table. While an attack runs, a well-behaved client reads and writes all the time. Each of its requests must be
// answered as if there were no attack. Its times are reported, but no test depends on them. After the attack, the
// server's memory, goroutines and open files must be back where they were, and its log must have neither a panic nor a
// 500.
//
// -hard makes every attack ten times as big, and -report FILE writes the results as a table; make hostile does both.
package hostile
