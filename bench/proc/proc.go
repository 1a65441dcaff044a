// Package proc reads what Linux says about processes.
package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tick is the unit of the kernel's accounts; Linux shows every program the same.
const tick = 10 * time.Millisecond

// CPU is the processor time that processes and their children have used, those that have ended included.
func CPU(pids ...int) time.Duration {
	var sum time.Duration
	for _, pid := range pids {
		sum += times(pid)
		sum += CPU(children(pid)...)
	}
	return sum
}

// times is what one process has used, with the children that it has buried.
func times(pid int) time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ") // past the name, which may contain anything
	fields := strings.Fields(rest)
	if len(fields) < 15 {
		return 0
	}
	var ticks int64
	for _, field := range fields[11:15] { // user and system time, its own and its children's
		n, _ := strconv.ParseInt(field, 10, 64)
		ticks += n
	}
	return time.Duration(ticks) * tick
}

func children(pid int) []int {
	var pids []int
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, task := range tasks {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		for _, field := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(field)
			pids = append(pids, child)
		}
	}
	return pids
}

// Own is the processor time of this process.
func Own() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// Resident is the memory that processes and their children hold, in bytes. Pages that several share count for each.
func Resident(pids ...int) int64 {
	var sum int64
	for _, pid := range pids {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			pages, _ := strconv.ParseInt(fields[1], 10, 64)
			sum += pages * int64(os.Getpagesize())
		}
		sum += Resident(children(pid)...)
	}
	return sum
}
