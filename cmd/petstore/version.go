package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"petstore/internal/terminal"
)

// version is the version of a release, set by the build. If version is empty, versionName returns the version of the module.
var version = ""

type versionCmd struct{}

func (versionCmd) Run(con *terminal.Console) error {
	fmt.Fprintf(con.Stdout, "petstore %s (%s, %s/%s)\n", versionName(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
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
