package sqlite

import (
	"fmt"
	"os"
)

// original is a file of the database, as it was when the database was opened.
type original struct {
	path string
	info os.FileInfo
}

// noteOriginal notes a file that must stay where it is.
func (db *DB) noteOriginal(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	db.originals = append(db.originals, original{path, info})
	return nil
}

// checkOriginals returns an error if a file is no longer in its place, and calls onLoss once when that changes. Data
// that is written to a deleted or replaced file is lost when the process ends. Without the lock file, another server may
// write.
func (db *DB) checkOriginals() error {
	err := db.displaced()
	if err != nil {
		db.alone.Store(false)
	}
	if lost := err != nil; db.lost.Swap(lost) != lost && db.onLoss != nil {
		db.onLoss(err)
	}
	return err
}

func (o original) inPlace() bool {
	now, err := os.Stat(o.path)
	return err == nil && os.SameFile(now, o.info)
}

func (db *DB) displaced() error {
	for _, o := range db.originals {
		if o.inPlace() {
			continue
		}
		otherwise := "restart petstore to use what is there now"
		if isMissing(db.path) { // a start would refuse the files that are left
			otherwise = "stop petstore and restore a backup"
		}
		return fmt.Errorf("the file %s was deleted or replaced while petstore used it; put the very same file back, or %s", o.path, otherwise)
	}
	return nil
}
