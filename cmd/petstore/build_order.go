package main

// The go command compiles packages in the order in which it finds them, and would find the engine of SQLite last, which
// takes longest. It finds the engine earlier because this file imports it, so that a first build keeps all processors
// busy until the end.
import _ "modernc.org/sqlite/lib"
