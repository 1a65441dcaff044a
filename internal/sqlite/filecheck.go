package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// databaseFile describes a file of the database as it was when the database was opened.
type databaseFile struct {
	path string
	info os.FileInfo
}

// watchFile adds a file to the files that checkFiles checks.
func (db *DB) watchFile(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	db.files = append(db.files, databaseFile{path, info})
	return nil
}

// checkFiles returns an error if a file of the database was deleted or replaced. It calls onFileLost when a file is lost,
// and again when all files are back. Data written to a lost file disappears when the process ends. While the lock file is
// lost, another server may write.
func (db *DB) checkFiles() error {
	err := db.findLostFile()
	if err != nil {
		db.soleWriter.Store(false)
	}
	if lost := err != nil; db.fileLost.Swap(lost) != lost && db.onFileLost != nil {
		db.onFileLost(err)
	}
	return err
}

func (f databaseFile) inPlace() bool {
	now, err := os.Stat(f.path)
	return err == nil && os.SameFile(now, f.info)
}

// clockTick is longer than the time during which a file system may give two changes of a folder the same time.
const clockTick = 3 * time.Second

// findLostFile returns an error that names the first file that was deleted or replaced. Both change the folder, so most
// calls look at the folder alone.
func (db *DB) findLostFile() error {
	folder, err := os.Stat(filepath.Dir(db.path))
	if checked := db.folder.Load(); checked != nil && err == nil && os.SameFile(folder, *checked) && folder.ModTime().Equal((*checked).ModTime()) {
		return nil
	}
	for _, f := range db.files {
		if f.inPlace() {
			continue
		}
		otherwise := "restart petstore to use what is there now"
		if isMissing(db.path) { // the WAL is left without its database, so petstore would refuse to start
			otherwise = "stop petstore and restore a backup"
		}
		return fmt.Errorf("the file %s was deleted or replaced while petstore used it; put the very same file back, or %s", f.path, otherwise)
	}
	if err == nil && time.Since(folder.ModTime()) > clockTick {
		db.folder.Store(&folder)
	}
	return nil
}
