package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnInterruptedCommandSaysWhatItHasDone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	database, backup := "sqlite:"+filepath.Join(dir, "pets.db"), filepath.Join(dir, "backup.db")
	for _, args := range [][]string{{"keys", "create", "--name", "a", "--database", database}, {"backup", backup, "--database", database}} {
		mustInvoke(t, args...)
	}
	for _, c := range []struct {
		args, says string
	}{
		{"backup " + filepath.Join(dir, "other.db") + " --database " + database, "stopped; no backup was made"},
		{"restore " + backup + " --database sqlite:" + filepath.Join(dir, "other.db"), "stopped; nothing was written"},
		{"copy --from " + database + " --to sqlite:" + filepath.Join(dir, "copy.db"), "stopped; what was copied stays; run the command again to continue"},
		{"export --output " + filepath.Join(dir, "other.db") + " --database " + database, "stopped; there is no complete export"},
		{"keys create --name b --database " + database, "stopped; petstore keys list shows what was done"},
		{"keys revoke ID --database " + database, "stopped; petstore keys list shows what was done"},
	} {
		ctx, signal := context.WithCancel(t.Context())
		signal()
		var printed bytes.Buffer
		err := run(ctx, strings.Fields(c.args), func(string) string { return "" }, &printed, &printed)
		if exitStatus(err) != 1 || err.Error() != c.says || printed.Len() > 0 {
			t.Errorf("%s ends with %d, %v, and prints %q; want 1, %s", c.args, exitStatus(err), err, printed.String(), c.says)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "other.db")); err == nil {
		t.Error("an interrupted command left a file")
	}
}
