package postgres

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// callTimeout limits the duration of every call, including the wait for a connection. If the database hangs, petstore
// refuses requests and does not hang.
const callTimeout = 3 * time.Second

// timeouts has the time limits of a call and of its parts. The other limits are derived from call, so that a test can
// lengthen all of them together.
type timeouts struct {
	call time.Duration
	// statement limits one statement on the server. It is shorter than call, so that the server's answer still arrives and
	// the connection can be used again.
	statement time.Duration
	// connect limits the attempt to reach one host, so that there is time to try another host.
	connect time.Duration
	// ping limits the check of an idle connection, so that one call can discard several dead connections.
	ping time.Duration
	// work is how much time a call must have left when it gets a connection.
	work time.Duration
}

func (cfg Config) timeouts() timeouts {
	call := cmp.Or(cfg.timeout, callTimeout)
	return timeouts{call: call, statement: call * 5 / 6, connect: call * 2 / 3, ping: call / 6, work: call / 6}
}

var errNoTime = fmt.Errorf("no connection was free in time: %w", context.DeadlineExceeded)

// leaveTime keeps a call from getting a connection if the call has too little time left for its work. A timeout in the
// middle of the work breaks the connection. Under overload, that would happen to nearly every call.
func (t timeouts) leaveTime(ctx context.Context, _ *pgx.Conn) (valid bool, err error) {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < t.work {
		return true, errNoTime
	}
	return true, nil
}
