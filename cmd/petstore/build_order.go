package main

// The go command visits imports in the order of their paths, and compiles packages in the order in which it has visited
// them. Through petstore/internal/sqlite it would visit the engine of SQLite last, which takes longest to compile. By its
// own path it comes earlier, so that in a first build other packages are compiled beside it.
import _ "modernc.org/sqlite/lib"
