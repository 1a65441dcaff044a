package main

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
)

// defaultProfile is the profile that is used if none is named.
const defaultProfile = "default"

// profile is a server and its key. The key is sent to no other server.
type profile struct {
	Server string `json:"server"`
	Key    string `json:"key"`
}

// environment is the environment that the prefix of the key names, empty if an operator chose the key.
func (p profile) environment() string {
	switch {
	case strings.HasPrefix(p.Key, "pets_test_"):
		return "staging"
	case strings.HasPrefix(p.Key, "pets_live_"):
		return "production"
	}
	return ""
}

// described is the address of the server for people to read, with a mark if it is staging.
func (p profile) described() string {
	if p.environment() == "staging" {
		return p.Server + " (staging)"
	}
	return p.Server
}

// profiles is the folder that holds profiles, one file each.
type profiles string

// profiles returns the folder of the person at this console.
func (con *console) profiles() (profiles, error) {
	base := con.getenv("XDG_CONFIG_HOME")
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
	return profiles(filepath.Join(base, "petstore", "profiles")), nil
}

// place returns the name of the profile to use, and the folder of profiles.
func (con *console) place(named string) (name string, stored profiles, err error) {
	name = cmp.Or(named, defaultProfile)
	if !profileName.MatchString(name) {
		return "", "", wrongUsage("--profile is %q; it may be a name of letters, digits, dots, dashes and underscores, such as staging", name)
	}
	stored, err = con.profiles()
	return name, stored, err
}

var profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func (d profiles) file(name string) string { return filepath.Join(string(d), name+".json") }

// read returns a profile. The error is fs.ErrNotExist if there is no profile of that name.
func (d profiles) read(name string) (p profile, err error) {
	text, err := os.ReadFile(d.file(name))
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(text, &p); err != nil || p.Server == "" || p.Key == "" {
		return p, fmt.Errorf("the profile in %s cannot be read; petstore login --profile %s makes it again", d.file(name), name)
	}
	return p, nil
}

// write stores a profile so that only its owner can read it. It is stored completely or not at all.
func (d profiles) write(name string, p profile) error {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return whole(d.file(name), func(file io.Writer) error {
		_, err := file.Write(append(text, '\n'))
		return err
	})
}

// names returns the names of all profiles, sorted.
func (d profiles) names() (names []string, err error) {
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
