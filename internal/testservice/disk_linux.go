package testservice

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Disk is a small file system for a test. The test can fill the disk or make it read-only.
type Disk struct {
	// Folder is where the disk is mounted.
	Folder string

	size string
}

// SmallDisk mounts a disk with the given size in bytes.
func SmallDisk(t testing.TB, size int) *Disk {
	t.Helper()
	d := &Disk{Folder: folder(t, "disk"), size: fmt.Sprintf("size=%d", size)}
	err := syscall.Mount("tmpfs", d.Folder, "tmpfs", 0, d.size)
	if errors.Is(err, syscall.EPERM) {
		Missing(t, "a small disk", "run the tests as root, who can mount one")
	}
	if err != nil {
		t.Fatalf("a small disk cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(d.Folder, syscall.MNT_DETACH); err != nil {
			t.Errorf("the small disk cannot be unmounted: %v", err)
		}
	})
	return d
}

func (d *Disk) filler() string { return filepath.Join(d.Folder, "filler") }

// Fill uses all free space on the disk.
func (d *Disk) Fill(t testing.TB) {
	t.Helper()
	file, err := os.OpenFile(d.filler(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	noError(t, err)
	defer file.Close()
	for size := 1 << 20; size > 0; size /= 2 {
		for err = nil; err == nil; {
			_, err = file.Write(make([]byte, size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("the disk cannot be filled: %v", err)
		}
	}
}

// FillExcept uses all free space on the disk but that many bytes.
func (d *Disk) FillExcept(t testing.TB, room int64) {
	t.Helper()
	d.Fill(t)
	filled, err := os.Stat(d.filler())
	noError(t, err)
	noError(t, os.Truncate(d.filler(), filled.Size()-room))
}

// Free frees the space that Fill used.
func (d *Disk) Free(t testing.TB) {
	t.Helper()
	noError(t, os.Remove(d.filler()))
}

// ReadOnly makes the disk read-only. No file on the disk may be open for writing.
func (d *Disk) ReadOnly(t testing.TB) { d.remount(t, syscall.MS_RDONLY) }

// Writable makes the disk writable again.
func (d *Disk) Writable(t testing.TB) { d.remount(t, 0) }

func (d *Disk) remount(t testing.TB, flags uintptr) {
	t.Helper()
	if err := syscall.Mount("tmpfs", d.Folder, "tmpfs", syscall.MS_REMOUNT|flags, d.size); err != nil {
		t.Fatalf("the small disk cannot be remounted: %v", err)
	}
}
