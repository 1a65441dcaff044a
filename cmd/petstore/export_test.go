package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

func TestAnExportHasTheRequestedAnimals(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	runImport(t, nil, 0, "Added 3 animals.", writeFile(t, "pets.csv", "name,categoryId,status\n\"Rex, \"\"the\"\" dog\",1,sold\nTom,2,\nAnn,-3,pending\n"), "--database", database)
	s := testservice.Serve(t, "--database", database)
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "id,name,categoryId,status\n3,Ann,-3,pending\n2,Tom,2,available\n1,\"Rex, \"\"the\"\" dog\",1,sold\n"},
		{[]string{"--status", "pending"}, "id,name,categoryId,status\n3,Ann,-3,pending\n"},
		{[]string{"--format", "jsonl", "--status", "sold"}, `{"id":1,"name":"Rex, \"the\" dog","categoryId":1,"status":"sold"}` + "\n"},
	} {
		for where, args := range map[string][]string{"the database": {"--database", database}, "the server": nil} {
			env := asClient(s)
			if args != nil {
				env = nil
			}
			stdout, stderr, status := invokeWith(t, env, append(append([]string{"export"}, c.args...), args...)...)
			if status != 0 || stdout != c.want || !strings.Contains(stderr, "Exported ") {
				t.Errorf("%q from %s: %d %s\n%s", c.args, where, status, stderr, stdout)
			}
		}
	}
}

func TestAFailedExportLeavesOnlyTheOldFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "pets.csv")
	rewrite(t, file, "the old one")
	s := testservice.Serve(t)
	s.Kill()
	_, stderr, status := invokeWith(t, asClient(s), "export", "--output", file)
	if status != 1 || !strings.Contains(stderr, "no server answers") {
		t.Errorf("%d %s", status, stderr)
	}
	if text, _ := os.ReadFile(file); string(text) != "the old one" {
		t.Errorf("the file says %q", text)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("there are %v, %v", left, err)
	}
}

func TestAnExportReplacesOnlyRegularFiles(t *testing.T) {
	t.Parallel()
	database, dir := testservice.NewDatabase(t), t.TempDir()
	runImport(t, nil, 0, "Added 3 animals.", writeFile(t, "pets.csv", rowsOf(3)), "--database", database)
	file, link := filepath.Join(dir, "pets.csv"), filepath.Join(dir, "link.csv")
	rewrite(t, file, "the old one")
	noError(t, os.Symlink(file, link))
	if _, stderr, status := invoke(t, "export", "--database", database, "--output", link); status != 0 {
		t.Error(stderr)
	}
	if text, _ := os.ReadFile(file); strings.Count(string(text), "\n") != 4 {
		t.Errorf("the file behind the link says %q", text)
	}
	for _, other := range []string{dir, os.DevNull} {
		if _, stderr, status := invoke(t, "export", "--database", database, "--output", other); status != 2 || !strings.Contains(stderr, "which is not a regular file") {
			t.Errorf("--output %s: %d %s", other, status, stderr)
		}
	}
}

func TestExportsAndBadLinesDoNotOverwriteADatabase(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	pets, bad := writeFile(t, "pets.csv", rowsOf(3)), writeFile(t, "bad.csv", rowsOf(1)+",1,sold\n")
	runImport(t, nil, 0, "Added 3 animals.", pets, "--database", database)
	name := strings.TrimPrefix(database, "sqlite:")
	link := filepath.Join(t.TempDir(), "link")
	noError(t, os.Symlink(name, link))
	for _, args := range [][]string{{"export", "--output", name}, {"export", "--output", link}, {"import", bad, "--bad-lines", name}, {"import", bad, "--bad-lines", link}} {
		_, stderr, status := invoke(t, append(args, "--database", database)...)
		if want := args[len(args)-2] + " is " + args[len(args)-1] + ", which is a database; choose another file"; status != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%v ended with %d: %s", args, status, stderr)
		}
	}
	if list, stderr, _ := invoke(t, "export", "--database", database); strings.Count(list, "\n") != 4 {
		t.Errorf("%s%s", list, stderr)
	}
}
