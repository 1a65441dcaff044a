//go:build linux

package chaos

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// clockFile is an environment variable with the name of a file. The file holds the number of seconds by which the clock of
// a stepped program is wrong.
const clockFile = "CLOCK_OFFSET"

// startStepped starts a cluster in which the clock of one replica jumps back and forth. No client may notice.
func startStepped(t testing.TB) *system {
	stepped, err := steppedProgram()
	if err != nil {
		t.Fatal(err)
	}
	offset := filepath.Join(t.TempDir(), "offset")
	setClock(t, offset, 0)
	c := onSharedPostgres(t)
	c.serve(t, func(replica int) parts {
		n := c.direct(t)(replica)
		if replica == 0 {
			n.binary, n.set = stepped, []string{clockFile + "=" + offset}
		}
		return n
	})
	expiring := testservice.NewKey(t, testservice.Build(t), c.database, "--expires", "30m")
	step := func(t testing.TB, by time.Duration) {
		setClock(t, offset, by)
		awaitClock(t, c.servers[0].URL, expiring, by)
	}
	var faults []fault
	for _, by := range []time.Duration{time.Minute, time.Hour, 25 * time.Hour, -time.Minute, -time.Hour, -25 * time.Hour} {
		faults = append(faults, fault{part: "clock", name: fmt.Sprintf("the clock of a replica is stepped by %v and back", by), do: func(t testing.TB, random *rand.Rand) {
			step(t, by)
			hold(random)
			step(t, 0)
		}})
	}
	faults = append(faults, fault{part: "clock", name: "a replica with a clock that is a day ahead is restarted", do: func(t testing.TB, random *rand.Rand) {
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
	next := file + ".next" // the rename makes sure that a reader finds either the old offset or the new one
	err := errors.Join(os.WriteFile(next, fmt.Append(nil, int64(by/time.Second)), 0o600), os.Rename(next, file))
	if err != nil {
		t.Fatal(err)
	}
}

// awaitClock waits until the server's clock is wrong by the given duration. The key is valid for half an hour. If the
// server's clock is further ahead, the server refuses the key.
func awaitClock(t testing.TB, url, key string, by time.Duration) {
	t.Helper()
	want := http.StatusOK
	if by > 30*time.Minute {
		want = http.StatusUnauthorized
	}
	eventually(t, fmt.Sprintf("the clock of the replica is wrong by %v", by), func() bool {
		request, _ := http.NewRequest(http.MethodGet, url+"/v1/inventory", nil)
		request.Header.Set("Authorization", "Bearer "+key)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == want
	})
}

// steppedNow is Go source that replaces time.Now in a package of the program. It adds seconds to the wall clock of a
// time.Time, which has its seconds in bits 30 to 62 of the first word. The monotonic clock stays right, as when somebody
// sets the clock of a machine.
const steppedNow = `

import (
	"os"
	"strconv"
	"time"
	"unsafe"
)

func steppedNow() time.Time {
	text, err := os.ReadFile(os.Getenv("` + clockFile + `"))
	if err != nil {
		panic(err)
	}
	seconds, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		panic(err)
	}
	now := time.Now()
	*(*uint64)(unsafe.Pointer(&now)) += uint64(seconds) << 30
	return now
}
`

var packageClause = regexp.MustCompile(`(?m)^package \w+$`)

// steppedProgram builds the program once. Wherever the program's own code asks for the time, it gets a time that is wrong
// by the offset in clockFile. The libraries keep the right clock.
var steppedProgram = sync.OnceValues(func() (string, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return "", err
	}
	overlay := make(map[string]string)
	for _, pattern := range []string{"cmd/petstore/*.go", "internal/*/*.go"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return "", err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			if strings.HasSuffix(file, "_test.go") || !bytes.Contains(text, []byte("time.Now")) {
				continue
			}
			overlay[file] = strings.ReplaceAll(string(text), "time.Now", "steppedNow") + "\nvar _ time.Time\n"
			overlay[filepath.Join(filepath.Dir(file), "stepped_now.go")] = string(packageClause.Find(text)) + steppedNow
		}
	}
	return testservice.BuildOverlaid(overlay)
})
