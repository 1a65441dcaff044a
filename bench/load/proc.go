package load

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of the kernel's accounts; Linux shows every program the same.
const tick = 10 * time.Millisecond

// cpu is the processor time that processes and their children have used, those that have ended included.
func cpu(pids ...int) (sum time.Duration) {
	for _, pid := range pids {
		_, stat, _ := strings.Cut(read(pid, "stat"), ") ") // past the name, which may contain anything
		if fields := strings.Fields(stat); len(fields) > 15 {
			for _, ticks := range fields[11:15] { // user and system time, its own and its children's
				sum += time.Duration(integer(ticks)) * tick
			}
		}
		sum += cpu(children(pid)...)
	}
	return sum
}

// Resident is the memory that processes and their children hold, in bytes. Pages that several share count for each.
func Resident(pids ...int) (sum int64) {
	for _, pid := range pids {
		if fields := strings.Fields(read(pid, "statm")); len(fields) > 1 {
			sum += integer(fields[1]) * int64(os.Getpagesize())
		}
		sum += Resident(children(pid)...)
	}
	return sum
}

func children(pid int) (pids []int) {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, task := range tasks {
		for _, child := range strings.Fields(read(pid, "task/"+task.Name()+"/children")) {
			pids = append(pids, int(integer(child)))
		}
	}
	return pids
}

// read is one of the kernel's tables about a process, empty if that has ended.
func read(pid int, name string) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	return string(text)
}

func integer(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
