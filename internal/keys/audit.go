package keys

import (
	"cmp"
	"context"
	"log/slog"
	"os/user"

	"petstore/internal/petstore"
	"petstore/internal/terminal"
)

// audit logs changes of keys in the words that the log of a server uses for them.
type audit struct {
	logger   *slog.Logger
	operator string // the name of the person on this machine
}

// newAudit returns an audit that logs lines of JSON on standard error, like a server. On a terminal it logs nothing: nobody
// collects what a terminal shows, and the person there reads the sentence of the command.
func newAudit(con *terminal.Console) audit {
	if terminal.IsTerminal(con.Stderr) {
		return audit{logger: slog.New(slog.DiscardHandler)}
	}
	name := con.Getenv("SUDO_USER")
	if account, err := user.Current(); err == nil {
		name = cmp.Or(name, account.Username)
	}
	return audit{slog.New(slog.NewJSONHandler(con.Stderr, nil)), name}
}

// log logs a change. A name may contain a secret by mistake.
func (a audit) log(ctx context.Context, event string, key petstore.Key, details ...any) {
	a.logger.InfoContext(ctx, event, append([]any{
		"by", "operator", "byName", a.operator,
		"key", key.ID, "name", petstore.Redact(key.Name), "owner", key.Owner, "access", string(key.Access), "plan", string(key.Plan),
	}, details...)...)
}
