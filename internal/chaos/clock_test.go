//go:build linux

package chaos

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// clockFile is the variable that names the file with the seconds by which the clock of a stepped program is wrong.
const clockFile = "CLOCK_OFFSET"

// startStepped steps the clock of one replica forth and back, which nobody may notice.
func startStepped(t testing.TB) *system {
	stepped, err := steppedProgram()
	if err != nil {
		t.Fatal(err)
	}
	offset := filepath.Join(t.TempDir(), "offset")
	setClock(t, offset, 0)
	t.Setenv(clockFile, offset)
	c := onSharedPostgres(t)
	c.serve(t, func(replica int) parts {
		if replica == 0 {
			return parts{stepped, c.database, c.redis.URL}
		}
		return parts{testservice.Build(t), c.database, c.redis.URL}
	})
	step := func(t testing.TB, by time.Duration) {
		setClock(t, offset, by)
		awaitClock(t, c.servers[0].URL, by)
	}
	var faults []fault
	for _, by := range []time.Duration{time.Minute, time.Hour, 25 * time.Hour, -time.Minute, -time.Hour, -25 * time.Hour} {
		faults = append(faults, fault{"clock", fmt.Sprintf("the clock of a replica is stepped by %v and back", by), func(t testing.TB, random *rand.Rand) {
			step(t, by)
			hold(random)
			step(t, 0)
		}})
	}
	faults = append(faults, fault{"clock", "a replica with a clock that is a day ahead is restarted", func(t testing.TB, random *rand.Rand) {
		step(t, 25*time.Hour)
		c.servers[0].Stop(t)
		c.revive(t, 0)
		hold(random)
		step(t, 0)
	}})
	s := c.system(t, faults)
	s.steady = true
	return s
}

func setClock(t testing.TB, file string, by time.Duration) {
	t.Helper()
	next := file + ".next" // a reader finds the old or the new
	err := errors.Join(os.WriteFile(next, fmt.Append(nil, int64(by/time.Second)), 0o600), os.Rename(next, file))
	if err != nil {
		t.Fatal(err)
	}
}

// awaitClock returns when the server tells a time that is wrong by that much.
func awaitClock(t testing.TB, url string, by time.Duration) {
	t.Helper()
	eventually(t, fmt.Sprintf("the clock of the replica is wrong by %v", by), func() bool {
		answer, err := http.Get(url + "/healthz")
		if err != nil {
			return false
		}
		answer.Body.Close()
		told, err := http.ParseTime(answer.Header.Get("Date"))
		return err == nil && (time.Until(told)-by).Abs() < 10*time.Second
	})
}

const (
	steppedNow    = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	steppedOffset = "package time\n\nimport \"sync/atomic\"\n\nvar Offset atomic.Int64\n"
	steppedMain   = `package main

import (
	"os"
	"strconv"
	"time"
)

func init() {
	step := func() {
		text, _ := os.ReadFile(os.Getenv("` + clockFile + `"))
		seconds, _ := strconv.ParseInt(string(text), 10, 64)
		time.Offset.Store(seconds)
	}
	step()
	go func() {
		for ; ; time.Sleep(10 * time.Millisecond) {
			step()
		}
	}()
}
`
)

// steppedProgram builds the program once with a package time whose clock is wrong by what a file says. The monotonic
// clock stays right, as when somebody sets the clock of a machine.
var steppedProgram = sync.OnceValues(func() (string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	std := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	original, err := os.ReadFile(filepath.Join(std, "time.go"))
	if err != nil {
		return "", err
	}
	if strings.Count(string(original), steppedNow) != 1 {
		return "", errors.New("time.Now of this Go is not what it was; adapt steppedNow")
	}
	command, err := filepath.Abs("../../cmd/petstore")
	if err != nil {
		return "", err
	}
	return testservice.BuildOverlaid(map[string]string{
		filepath.Join(std, "time.go"):              strings.Replace(string(original), steppedNow, steppedNow+"\tsec += Offset.Load()\n", 1),
		filepath.Join(std, "offset.go"):            steppedOffset,
		filepath.Join(command, "stepped_clock.go"): steppedMain,
	})
})
