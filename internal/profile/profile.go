// Package profile finds the server that a command calls and the API key for that server. Both come from the flags, the
// environment, or the profiles that petstore login stores.
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

// Default is the name of the profile that a command uses if the person names no other.
const Default = "default"

// Profile is a server and the key for it. The key is never sent to another server.
type Profile struct {
	Server string `json:"server"`
	Key    string `json:"key"`
}

// Environment returns the environment that the prefix of the key names. It returns "" for a key that an operator chose.
func (p Profile) Environment() string {
	switch {
	case strings.HasPrefix(p.Key, "pets_test_"):
		return "staging"
	case strings.HasPrefix(p.Key, "pets_live_"):
		return "production"
	}
	return ""
}

// Describe returns the address of the server for messages. For a staging key, it adds "(staging)".
func (p Profile) Describe() string {
	if p.Environment() == "staging" {
		return p.Server + " (staging)"
	}
	return p.Server
}

// Folder is the path of a folder with profiles. Each profile is one file.
type Folder string

// UserFolder returns the folder with the profiles of the current user.
func UserFolder(con *terminal.Console) (Folder, error) {
	base := con.Getenv("XDG_CONFIG_HOME")
	var err error
	switch {
	case base == "":
		base, err = os.UserConfigDir()
	case !filepath.IsAbs(base): // the XDG specification says to ignore a relative path
		base, err = os.UserHomeDir()
		base = filepath.Join(base, ".config")
	}
	if err != nil {
		return "", fmt.Errorf("there is no folder for profiles: %w; set PETSTORE_API_KEY instead", err)
	}
	return Folder(filepath.Join(base, "petstore", "profiles")), nil
}

// Locate returns the name of the profile to use and the folder of profiles. If flag is empty, the name is Default.
func Locate(con *terminal.Console, flag string) (name string, profiles Folder, err error) {
	name = cmp.Or(flag, Default)
	if !profileName.MatchString(name) {
		return "", "", terminal.WrongUsage("--profile is %q; it must be a name of letters, digits, dots, dashes and underscores, such as staging", name)
	}
	profiles, err = UserFolder(con)
	return name, profiles, err
}

var profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// File returns the path of a profile's file.
func (d Folder) File(name string) string { return filepath.Join(string(d), name+".json") }

// Read returns the profile with that name, or fs.ErrNotExist if there is none.
func (d Folder) Read(name string) (p Profile, err error) {
	text, err := os.ReadFile(d.File(name))
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(text, &p); err != nil || p.Server == "" || p.Key == "" {
		return p, fmt.Errorf("the profile in %s cannot be read; run petstore login --profile %s to create it again", d.File(name), name)
	}
	return p, nil
}

// Write stores a profile atomically. Only the owner of the file can read it.
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

// Names returns the sorted names of all profiles.
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
