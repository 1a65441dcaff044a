//go:build unix

package testservice

import (
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// These signals suspend a process and resume it.
const (
	suspend = syscall.SIGSTOP
	resume  = syscall.SIGCONT
)

// ownGroup puts a process into its own process group, so that signals from the keyboard reach only the tests.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// unprivileged is like ownGroup. If the tests run as root, unprivileged also chooses another user, because some servers
// refuse to run as root.
func unprivileged() (*syscall.SysProcAttr, error) {
	attr := ownGroup()
	if os.Geteuid() != 0 {
		return attr, nil
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		who, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(who.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(who.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attr, nil
}

// changeOwner makes the user in attr the owner of a folder.
func changeOwner(dir string, attr *syscall.SysProcAttr) error {
	if attr.Credential == nil {
		return nil
	}
	return os.Chown(dir, int(attr.Credential.Uid), int(attr.Credential.Gid))
}
