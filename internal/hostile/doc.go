// Package hostile attacks the real program like hostile and broken clients: slowly, with thousands of connections, with
// bytes that are not HTTP, and with requests that proxies and servers read differently. The package has only tests.
//
// The table in attacks_test.go lists all attacks. A new attack is a function that takes the target, and a line in the
// table. While an attack runs, a well-behaved client reads and writes all the time. Each of its requests must be answered
// as if there were no attack. Its times are reported, but no test depends on them. After the attack, the server's memory,
// goroutines and open files must be back where they were, and its log must have neither a panic nor a 500.
//
// With -hard every attack is ten times as big, and -report FILE writes the results as a table. make hostile does both.
package hostile
