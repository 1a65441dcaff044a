package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the build. Without it, the version of the module counts.
var version = ""

type versionCmd struct{}

func (versionCmd) Run(con *console) error {
	fmt.Fprintf(con.stdout, "petstore %s (%s, %s/%s)\n", versionName(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

func versionName() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
