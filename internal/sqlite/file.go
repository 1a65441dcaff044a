package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// locate returns the absolute path of the database, or says why no database can be there. SQLite sees no special
// meaning in an absolute path.
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
		return "", fmt.Errorf("there is no database %s; choose another --database, or let petstore serve make it", cfg.Path)
	case errors.Is(err, fs.ErrNotExist):
		return path, checkFolder(filepath.Dir(followed(path)))
	case errors.Is(err, fs.ErrPermission):
		return "", fmt.Errorf("petstore may not look for the database %s; let the user that runs petstore read its folder", cfg.Path)
	case err != nil:
		return "", fmt.Errorf("there can be no database %s: %w; choose another --database", cfg.Path, err)
	case !mayWrite(path): // SQLite would open it only for reading, and leave files beside it
		return "", mayNotWrite(cfg.Path)
	}
	return path, checkNames(path, cfg.Path, info)
}

func checkFolder(folder string) error {
	if isMissing(folder) {
		return fmt.Errorf("the folder %s does not exist; create it, or choose another --database", folder)
	}
	return nil
}

// checkNames refuses a file with several names. SQLite keeps a WAL for each name, and a server has a lock for each name:
// a process that opens the file by another name would see neither of them. The name that a killed restore has left does
// not count: nobody has opened the file by it.
func checkNames(path, name string, info fs.FileInfo) error {
	names := linksOf(info)
	if names == 1 {
		return nil
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		aside, _ := asideLinks(real, info)
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

// companions are the endings of the files that SQLite keeps beside a database.
var companions = []string{"-wal", "-shm", "-journal"}

// checkNew refuses to make a database at path if an older one has left files there. SQLite would apply them to the new
// database, or delete them with the animals that they hold. A path at which there is a database already is fine, also if
// another process has just made it: hence the order of the two checks.
func checkNew(path string) error {
	for _, suffix := range companions {
		if left := path + suffix; !isMissing(left) && isMissing(path) {
			return fmt.Errorf("%s belongs to an older database %s, and SQLite would take it for a part of the new one; move it away, or choose another name", left, path)
		}
	}
	return nil
}

// followed is the path that symbolic links lead to, even if there is no file, or else path itself.
func followed(path string) string {
	for range 40 { // as many as Linux follows
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			folder := filepath.Dir(path)
			if real, err := filepath.EvalSymlinks(folder); err == nil { // ".." leads up from where the folder really is
				folder = real
			}
			target = filepath.Join(folder, target)
		}
		path = target
	}
	return path
}

// makePrivate makes an empty file for SQLite to fill, unless the file exists. Everybody could read a file that SQLite
// makes itself. The files that SQLite makes beside a database get the mode of the database. If makePrivate cannot make
// the file, SQLite says why.
func makePrivate(path string) {
	if file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
		file.Close()
	}
}
