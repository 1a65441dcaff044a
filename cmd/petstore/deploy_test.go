package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/oasdiff/yaml"

	"petstore/internal/service"
	"petstore/internal/testservice"
)

const deployDir = "../../deploy"

// deployed returns the text of every file in deploy/ by its path.
func deployed(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(deployDir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, deployDir+"/")] = string(text)
		return err
	})
	noError(t, err)
	return files
}

func TestDeployedFilesAreWellFormed(t *testing.T) {
	t.Parallel()
	for path, text := range deployed(t) {
		switch filepath.Ext(path) {
		case ".yaml", ".yml":
			if _, err := yaml.YAMLToJSON([]byte(text)); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		case ".json":
			if !json.Valid([]byte(text)) {
				t.Errorf("%s is not JSON", path)
			}
		}
	}
	if haproxy, err := exec.LookPath("haproxy"); err == nil {
		if out, err := exec.Command(haproxy, "-c", "-f", filepath.Join(deployDir, "haproxy.cfg")).CombinedOutput(); err != nil {
			t.Errorf("haproxy.cfg: %v\n%s", err, out)
		}
	}
}

var (
	settingName = regexp.MustCompile(`\bPETSTORE_[A-Z_]+\b`)
	flagName    = regexp.MustCompile(`--[a-z][a-z-]+`)
)

// flagsOfOthers are flags in the deployed files that belong to other programs.
var flagsOfOthers = []string{
	"--always", "--appendonly", "--build", "--build-arg", "--chown", "--config-file", "--detach", "--from", "--from-literal", "--host", "--interval", "--maxmemory", "--maxmemory-policy",
	"--now", "--platform", "--rm", "--save", "--start-period", "--tags", "--username",
}

func TestDeployedSettingsExist(t *testing.T) {
	t.Parallel()
	variables, flags := map[string]bool{}, map[string]bool{"--help": true}
	for _, name := range flagsOfOthers {
		flags[name] = true
	}
	for _, command := range commandLine(t).Leaves(true) {
		for _, f := range command.Flags {
			variables[variable(f)], flags["--"+f.Name] = true, true
		}
	}
	for path, text := range deployed(t) {
		for _, name := range settingName.FindAllString(text, -1) {
			if !variables[name] {
				t.Errorf("%s sets %s, which is no variable of the program", path, name)
			}
		}
		for _, name := range flagName.FindAllString(text, -1) {
			if !flags[name] {
				t.Errorf("%s uses %s, which is no flag of the program", path, name)
			}
		}
	}
}

var shownCommand = regexp.MustCompile("(?m)(?:`|\\$\\(|^ *)petstore ([a-z][^`\\n#]*)")

func TestDocumentedCommandsExist(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	noError(t, err)
	app := commandLine(t)
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		noError(t, err)
		for _, shown := range shownCommand.FindAllStringSubmatch(string(text), -1) {
			command, flags := app.Node, map[string]bool{}
			for _, word := range strings.Fields(shown[1]) {
				if i := slices.IndexFunc(command.Children, func(n *kong.Node) bool { return n.Name == word }); i >= 0 {
					command = command.Children[i]
				}
			}
			for _, f := range cmp.Or(command.DefaultCmd, command).Flags {
				flags["--"+f.Name] = true
			}
			for _, name := range flagName.FindAllString(shown[1], -1) {
				if !flags[name] {
					t.Errorf("%s shows petstore %s, which has no %s", filepath.Base(page), shown[1], name)
				}
			}
			if command == app.Node {
				t.Errorf("%s shows petstore %s, which is no command", filepath.Base(page), shown[1])
			}
		}
	}
}

var shownFilter = regexp.MustCompile(`jq (-[A-Za-z]+)[ \n]'([^']+)'`)

// The systemd journal also has lines that systemd itself wrote, and a server that fails to start says so in plain text.
func TestDocumentedLogFiltersIgnoreLinesThatAreNotJSON(t *testing.T) {
	t.Parallel()
	jq := testservice.Program(t, "jq", "install the package jq")
	page := readPages(t)["docs/logs.md"]
	shown := shownFilter.FindAllStringSubmatch(page, -1)
	if len(shown) == 0 {
		t.Error("docs/logs.md shows no filter")
	}
	for _, filter := range shown {
		command := exec.Command(jq, filter[1], filter[2])
		command.Stdin = strings.NewReader("Started petstore.service.\n" +
			`{"level":"INFO","msg":"serving"}` + "\n" +
			`{"level":"INFO","msg":"request","status":401,"client":"192.0.2.1","deprecated":true}` + "\n" +
			`{"level":"INFO","msg":"key revoked","by":"key_1","byName":"Ann","key":"key_2"}` + "\n" +
			"petstore: the server stopped by itself\n")
		want := "192.0.2.1\n"
		if strings.Contains(filter[2], "byName") {
			want = "key revoked: key_2 by Ann\n"
		}
		if out, err := command.CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("jq %s '%s': %v\n%s", filter[1], filter[2], err, out)
		}
	}
}

var (
	metricName = regexp.MustCompile(`\b(?:petstore|go|process)_[a-z_]+\b(?:\{([^}]*)\})?`)
	labelName  = regexp.MustCompile(`([a-z_]+) *=~?"`)
	grouping   = regexp.MustCompile(`by \(([^)]*)\)`)
	sample     = regexp.MustCompile(`(?m)^([a-z_]+)(?:\{([^}]*)\})? `)
)

// exposed returns the metrics that two servers expose, with their labels. One server uses PostgreSQL and Redis, the other
// SQLite and TLS. Together they expose every metric.
func exposed(t *testing.T) map[string]map[string]bool {
	t.Helper()
	dir := t.TempDir()
	certFile, keyFile, database := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), "sqlite:"+filepath.Join(dir, "pets.db")
	testservice.WriteCertificate(t, certFile, keyFile, 1)
	shared := testservice.Serve(t, "--admin-listen", "127.0.0.1:0", "--database", testservice.Postgres(t), "--redis", testservice.Redis(t))
	shared.Ask(t, "POST", "/v1/pets", `{"name":"Rex","categoryId":1}`)
	shared.Ask(t, "GET", "/v1/pets", "")
	shared.Ask(t, "GET", "/v1/pets/1", "")
	shared.Ask(t, "POST", "/v1/webhooks", `{"url":"https://hooks.invalid"}`)
	embedded := testservice.Serve(t, "--admin-listen", "127.0.0.1:0", "--database", database, "--tls-cert", certFile, "--tls-key", keyFile)
	mustInvoke(t, "backup", filepath.Join(dir, "backup.db"), "--database", database)
	metrics := map[string]map[string]bool{}
	for _, line := range sample.FindAllStringSubmatch(shared.Scrape(t)+embedded.Scrape(t), -1) {
		if metrics[line[1]] == nil {
			metrics[line[1]] = map[string]bool{"instance": true, "job": true} // Prometheus adds these two labels
		}
		for _, label := range labelName.FindAllStringSubmatch(line[2], -1) {
			metrics[line[1]][label[1]] = true
		}
	}
	return metrics
}

var (
	tableRow  = regexp.MustCompile(`(?m)^\| (` + "`petstore_[^|]*" + `) \|`)
	tableName = regexp.MustCompile("`(petstore_[a-z_]+)(?:\\{([a-z,]*)\\})?`")
	part      = regexp.MustCompile(`_(bucket|sum|count)$`)
)

// documented returns the metrics in the table of the monitoring page, with their labels.
func documented(t *testing.T, page string) map[string]string {
	t.Helper()
	rows := map[string]string{}
	for _, row := range tableRow.FindAllStringSubmatch(page, -1) {
		for _, name := range tableName.FindAllStringSubmatch(row[1], -1) {
			rows[name[1]] = name[2]
		}
	}
	return rows
}

func TestTheDocumentedMetricsAreThoseOfTheServer(t *testing.T) {
	t.Parallel()
	page := readPages(t)["docs/monitoring.md"]
	families := map[string]string{}
	for name, labels := range exposed(t) {
		family := part.ReplaceAllString(name, "")
		if !strings.HasPrefix(name, "petstore_") || family != name && !strings.HasSuffix(name, "_count") {
			continue
		}
		own := slices.DeleteFunc(slices.Sorted(maps.Keys(labels)), func(label string) bool { return label == "instance" || label == "job" })
		families[family] = strings.Join(own, ",")
	}
	rows := documented(t, page)
	for name, labels := range families {
		if written, ok := rows[name]; !ok || written != labels {
			t.Errorf("docs/monitoring.md has %s with the labels {%s}; the server has it with {%s}", name, written, labels)
		}
	}
	for name := range rows {
		if _, ok := families[name]; !ok {
			t.Errorf("docs/monitoring.md lists %s, which the server does not have", name)
		}
	}
}

func TestDashboardAndAlertsUseExistingMetrics(t *testing.T) {
	t.Parallel()
	metrics := exposed(t)
	page := readPages(t)["docs/alerts.md"]
	files := deployed(t)
	for path, expressions := range map[string][]string{
		"alerts.yaml":            fields(t, files["alerts.yaml"], "expr"),
		"grafana-dashboard.json": append(fields(t, files["grafana-dashboard.json"], "expr"), fields(t, files["grafana-dashboard.json"], "query")...),
	} {
		for _, expression := range expressions {
			checkExpression(t, metrics, path, expression)
		}
	}
	for _, alert := range fields(t, files["alerts.yaml"], "alert") {
		if !strings.Contains(page, "### "+alert+"\n") {
			t.Errorf("docs/alerts.md does not say what to do about %s", alert)
		}
	}
}

func checkExpression(t *testing.T, metrics map[string]map[string]bool, path, expression string) {
	t.Helper()
	labels := map[string]bool{}
	for _, used := range metricName.FindAllStringSubmatch(expression, -1) {
		name, _, _ := strings.Cut(used[0], "{")
		if metrics[name] == nil {
			t.Errorf("%s uses %s, which the server does not have", path, name)
			continue
		}
		for _, label := range labelName.FindAllStringSubmatch(used[1], -1) {
			if !metrics[name][label[1]] {
				t.Errorf("%s uses the label %s, which %s does not have", path, label[1], name)
			}
		}
		maps.Copy(labels, metrics[name])
	}
	for _, group := range grouping.FindAllStringSubmatch(expression, -1) {
		for label := range strings.SplitSeq(group[1], ",") {
			if !labels[strings.TrimSpace(label)] {
				t.Errorf("%s groups by %s, which is no label in %s", path, label, expression)
			}
		}
	}
}

// fields returns the text of every field with that name in a YAML or JSON document, at any depth.
func fields(t *testing.T, text, name string) (found []string) {
	t.Helper()
	var document any
	if _, err := yaml.Unmarshal([]byte(text), &document, yaml.DecodeOpts{}); err != nil {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(node any) {
		switch node := node.(type) {
		case []any:
			for _, item := range node {
				walk(item)
			}
		case map[string]any:
			for key, item := range node {
				if value, ok := item.(string); ok && key == name {
					found = append(found, value)
				}
				walk(item)
			}
		}
	}
	walk(document)
	if len(found) == 0 {
		t.Errorf("no %s was found", name)
	}
	return found
}

// The image downloads the modules before it copies the source. A change of the source then does not download the modules
// again.
func TestTheImageDownloadsModulesFromTheFilesItHas(t *testing.T) {
	t.Parallel()
	before, _, found := strings.Cut(deployed(t)["Dockerfile"], "\nRUN go mod download\n")
	copies := regexp.MustCompile(`(?m)^COPY (.+) (\S+)$`).FindAllStringSubmatch(before, -1)
	if !found || len(copies) == 0 {
		t.Fatal("the Dockerfile does not download modules before it has the source")
	}
	image := t.TempDir()
	for _, line := range copies {
		for _, file := range strings.Fields(line[1]) {
			text, err := os.ReadFile(filepath.Join("../..", file))
			path := filepath.Join(image, line[2], filepath.Base(file))
			noError(t, errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, text, 0o600)))
		}
	}
	download := exec.Command("go", "mod", "download")
	download.Dir = image
	if out, err := download.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The port is not 9090, because Prometheus itself listens on 9090, often on the same machine.
func TestDeployedFilesReachTheAdminListener(t *testing.T) {
	t.Parallel()
	field, _ := reflect.TypeFor[service.Serve]().FieldByName("AdminListen")
	host, port, err := net.SplitHostPort(field.Tag.Get("default"))
	if err != nil || host != "127.0.0.1" || port != "8081" {
		t.Errorf("the admin listener is at %s:%s: %v", host, port, err)
	}
	files := deployed(t)
	for path, text := range map[string]string{
		"compose.yaml":               `PETSTORE_ADMIN_LISTEN: ":` + port + `"`,
		"kubernetes/config.yaml":     `PETSTORE_ADMIN_LISTEN: ":` + port + `"`,
		"kubernetes/deployment.yaml": "containerPort: " + port,
		"Dockerfile":                 "EXPOSE 8080 " + port,
		"prometheus.yml":             "127.0.0.1:" + port,
	} {
		if !strings.Contains(files[path], text) {
			t.Errorf("%s does not have %s", path, text)
		}
	}
}
