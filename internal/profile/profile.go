// Package profile finds the server that a command calls and the API key for it: in flags, in the environment, or in the
// profiles that petstore login keeps.
package profile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"petstore/internal/terminal"
)

// Default is the profile that is used if none is named.
const Default = "default"

// Profile is a server and its key. The key is sent to no other server.
type Profile struct {
	Server string `json:"server"`
	Key    string `json:"key"`
}

// Environment is the environment that the prefix of the key names, empty if an operator chose the key.
func (p Profile) Environment() string {
	switch {
	case strings.HasPrefix(p.Key, "pets_test_"):
		return "staging"
	case strings.HasPrefix(p.Key, "pets_live_"):
		return "production"
	}
	return ""
}

// Describe is the address of the server for people to read, with a mark if it is staging.
func (p Profile) Describe() string {
	if p.Environment() == "staging" {
		return p.Server + " (staging)"
	}
	return p.Server
}

// Folder is a folder that holds profiles, one file each.
type Folder string

// Open returns the folder of the person at this console.
func Open(con *terminal.Console) (Folder, error) {
	base := con.Getenv("XDG_CONFIG_HOME")
	var err error
	switch {
	case base == "":
		base, err = os.UserConfigDir()
	case !filepath.IsAbs(base): // then it does not count
		base, err = os.UserHomeDir()
		base = filepath.Join(base, ".config")
	}
	if err != nil {
		return "", fmt.Errorf("there is no place for profiles: %w; set PETSTORE_API_KEY instead", err)
	}
	return Folder(filepath.Join(base, "petstore", "profiles")), nil
}

// Locate returns the name of the profile to use, and the folder of profiles.
func Locate(con *terminal.Console, named string) (name string, stored Folder, err error) {
	name = cmp.Or(named, Default)
	if !profileName.MatchString(name) {
		return "", "", terminal.WrongUsage("--profile is %q; it may be a name of letters, digits, dots, dashes and underscores, such as staging", name)
	}
	stored, err = Open(con)
	return name, stored, err
}

var profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// File is the name of a profile's file.
func (d Folder) File(name string) string { return filepath.Join(string(d), name+".json") }

// Read returns a profile. The error is fs.ErrNotExist if there is no profile of that name.
func (d Folder) Read(name string) (p Profile, err error) {
	text, err := os.ReadFile(d.File(name))
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(text, &p); err != nil || p.Server == "" || p.Key == "" {
		return p, fmt.Errorf("the profile in %s cannot be read; petstore login --profile %s makes it again", d.File(name), name)
	}
	return p, nil
}

// Write stores a profile so that only its owner can read it. It is stored completely or not at all.
func (d Folder) Write(name string, p Profile) error {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return terminal.WriteFile(d.File(name), func(file io.Writer) error {
		_, err := file.Write(append(text, '\n'))
		return err
	})
}

// Names returns the names of all profiles, sorted.
func (d Folder) Names() (names []string, err error) {
	entries, err := os.ReadDir(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		if name, isProfile := strings.CutSuffix(entry.Name(), ".json"); isProfile && profileName.MatchString(name) {
			names = append(names, name)
		}
	}
	return names, err
}
