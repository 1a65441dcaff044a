package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// locate returns the absolute path of the database, or an error that explains why no database can be at that path. The path
// is absolute because SQLite gives names such as ":memory:" a special meaning.
func locate(cfg Config) (string, error) {
	path, err := filepath.Abs(cfg.Path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	switch {
	case cfg.Path == "":
		return "", errors.New("the database has no name; name a file, such as --database sqlite:petstore.db")
	case err == nil && info.IsDir():
		return "", fmt.Errorf("%s is a folder; name a file in it, such as %s", cfg.Path, filepath.Join(cfg.Path, "petstore.db"))
	case errors.Is(err, fs.ErrNotExist) && !cfg.Create:
		return "", fmt.Errorf("there is no database %s; choose another --database, or let petstore serve create it", cfg.Path)
	case errors.Is(err, fs.ErrNotExist):
		return path, checkFolder(filepath.Dir(followLinks(path)))
	case errors.Is(err, fs.ErrPermission):
		return "", fmt.Errorf("petstore may not look for the database %s; let the user that runs petstore read its folder", cfg.Path)
	case err != nil:
		return "", fmt.Errorf("there can be no database %s: %w; choose another --database", cfg.Path, err)
	case !mayWrite(path): // SQLite would open the file read-only and leave other files beside it
		return "", errNotWritable(cfg.Path)
	}
	return path, checkHardLinks(path, cfg.Path, info)
}

func checkFolder(folder string) error {
	if isMissing(folder) {
		return fmt.Errorf("the folder %s does not exist; create it, or choose another --database", folder)
	}
	return nil
}

// checkHardLinks refuses a file with several names. SQLite keeps one WAL per name, and a server takes one lock per name. A
// process that opens the file by another name would see neither the WAL nor the lock. A name that a killed restore has left
// does not count, because nobody has opened the file by that name.
func checkHardLinks(path, name string, info fs.FileInfo) error {
	names := hardLinks(info)
	if names == 1 {
		return nil
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		aside, _ := asideLinks(resolved, info)
		names -= min(names, uint64(len(aside)))
	}
	if names > 1 {
		return fmt.Errorf("the database %s has %d names (hard links), and only one is safe; remove the others, or choose another --database", name, names)
	}
	return nil
}

func isMissing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// companionSuffixes are the endings of the files that SQLite keeps beside a database.
var companionSuffixes = []string{"-wal", "-shm", "-journal"}

// checkLeftovers refuses to create a database at path if an older database has left files there. SQLite would apply the
// files to the new database, or delete the files with the animals in them. If a database exists at path, the files belong
// to that database. checkLeftovers looks for the database last, because another process may create it at any moment.
func checkLeftovers(path string) error {
	for _, suffix := range companionSuffixes {
		if left := path + suffix; !isMissing(left) && isMissing(path) {
			return fmt.Errorf("%s belongs to an older database %s, and SQLite would take it for part of the new one; move it away, or choose another name", left, path)
		}
	}
	return nil
}

// followLinks returns the path that symbolic links lead to, even if there is no file at that path. It returns a path
// without links unchanged.
func followLinks(path string) string {
	for range 40 { // as many links as Linux follows
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			folder := filepath.Dir(path)
			if resolved, err := filepath.EvalSymlinks(folder); err == nil { // in a link, ".." means the parent of the real folder
				folder = resolved
			}
			target = filepath.Join(folder, target)
		}
		path = target
	}
	return path
}

// createPrivate creates an empty file for SQLite to fill, unless the file exists. Only the user who runs petstore may read
// the file. Without createPrivate, SQLite would create a file that everybody may read. SQLite gives the files beside the
// database the same permissions. If createPrivate fails, SQLite reports why.
func createPrivate(path string) {
	if file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
		file.Close()
	}
}
