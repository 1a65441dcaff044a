package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"petstore/bench/result"
)

// describeMachine says what the figures were measured on, the disk of that folder among it.
func describeMachine(dir string) (result.Machine, error) {
	sync, err := measureSync(dir)
	kilobytes, _ := strconv.ParseInt(strings.TrimSuffix(field("/proc/meminfo", "MemTotal"), " kB"), 10, 64)
	system, _ := exec.Command("uname", "-srm").Output()
	fileSystem, _ := exec.Command("df", "--output=fstype", dir).Output()
	_, fileSystemName, _ := strings.Cut(strings.TrimSpace(string(fileSystem)), "\n")
	return result.Machine{
		Processor:  field("/proc/cpuinfo", "model name"),
		Processors: runtime.NumCPU(),
		Memory:     kilobytes << 10,
		System:     strings.TrimSpace(string(system)),
		Go:         strings.TrimPrefix(runtime.Version(), "go"),
		FileSystem: fileSystemName,
		Sync:       sync,
	}, err
}

// measureSync is how long it takes, most often, to make 4 kB durable: what every commit must wait for.
func measureSync(dir string) (time.Duration, error) {
	file, err := os.Create(filepath.Join(dir, "sync"))
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	times := make([]time.Duration, 200)
	block := make([]byte, 4096)
	for i := range times {
		start := time.Now()
		if _, err := file.Write(block); err != nil {
			return 0, err
		}
		if err := file.Sync(); err != nil {
			return 0, err
		}
		times[i] = time.Since(start)
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// field is the first value of that name in one of the kernel's tables.
func field(path, name string) string {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
