package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"petstore/bench/result"
)

// describeMachine says what the figures were measured on, the disk of that folder among it.
func describeMachine(dir string) (result.Machine, error) {
	sync, err := measureSync(dir)
	return result.Machine{
		Processor:  strings.TrimSpace(field("/proc/cpuinfo", "model name")),
		Processors: runtime.NumCPU(),
		Memory:     memory(),
		System:     system(),
		Go:         strings.TrimPrefix(runtime.Version(), "go"),
		FileSystem: fileSystem(dir),
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
		if err := syscall.Fdatasync(int(file.Fd())); err != nil {
			return 0, err
		}
		times[i] = time.Since(start)
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// field is the first value of that name in one of the kernel's tables.
func field(path, name string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if key, value, _ := strings.Cut(lines.Text(), ":"); strings.TrimSpace(key) == name {
			return value
		}
	}
	return ""
}

func memory() int64 {
	kilobytes, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(field("/proc/meminfo", "MemTotal")), " kB"), 10, 64)
	return kilobytes << 10
}

func system() string {
	out, _ := exec.Command("uname", "-srm").Output()
	return strings.TrimSpace(string(out))
}

func fileSystem(dir string) string {
	out, _ := exec.Command("df", "--output=fstype", dir).Output()
	_, name, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return strings.TrimSpace(name)
}
