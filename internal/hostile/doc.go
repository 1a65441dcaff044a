// Package hostile attacks the real program as hostile and broken clients do: slowly, with thousands of connections, with
// bytes that are not HTTP, and with requests that proxies and servers read differently. The package has only tests.
//
// The table in attacks_test.go lists all attacks. A new attack is a function that takes the target, and a line in the
// table. While an attack runs, a well-behaved client reads and writes all the time. The server must answer each of its
// requests as if there were no attack. The report shows how long these requests took, but no test depends on that. After
// the attack, the server's memory, goroutines and open files must be back where they were, and its log must have neither a
// panic nor a 500.
//
// With -hard every attack is ten times as big, and -report FILE writes the results as a table. The command make hostile
// uses both options.
package hostile
