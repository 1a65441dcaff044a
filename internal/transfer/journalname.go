package transfer

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"petstore/internal/terminal"
)

// journalName returns the path of the journal for a file. The journal is in the user's state folder. The file has a separate
// journal for each server or database into which it is imported.
func journalName(con *terminal.Console, file, target string) (string, error) {
	state, err := stateFolder(con)
	if err != nil {
		return "", noJournal(err)
	}
	path, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "", err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(path + "\x00" + target))
	start := filepath.Base(path)
	start = strings.ToValidUTF8(start[:min(len(start), 100)], "")
	return filepath.Join(state, "petstore", "imports", fmt.Sprintf("%s-%x", start, sum[:8])), nil
}

// stateFolder returns the folder in which programs keep data for the user that are not settings.
func stateFolder(con *terminal.Console) (string, error) {
	if folder := con.Getenv("XDG_STATE_HOME"); filepath.IsAbs(folder) { // the XDG specification says to ignore a relative path
		return folder, nil
	}
	switch runtime.GOOS {
	case "windows":
		return os.UserCacheDir() // %LocalAppData%
	case "darwin":
		return os.UserConfigDir() // ~/Library/Application Support
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state"), err
}
