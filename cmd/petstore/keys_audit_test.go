package main

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

// auditLines returns the log lines about changes of keys in a text, without their times and the ids of requests.
func auditLines(t *testing.T, text string) (lines []map[string]any) {
	t.Helper()
	for line := range strings.Lines(text) {
		var fields map[string]any
		if json.Unmarshal([]byte(line), &fields) != nil {
			continue
		}
		if event, _ := fields["msg"].(string); strings.HasPrefix(event, "key ") {
			delete(fields, "time")
			delete(fields, "id")
			lines = append(lines, fields)
		}
	}
	return lines
}

func TestEveryChangeOfAKeyIsOneLineInALog(t *testing.T) {
	t.Parallel()
	onEveryKeyPlace(t, func(t *testing.T, p keyPlace) {
		by, byName := "operator", "ann"
		if p.env == nil {
			p.env = map[string]string{"SUDO_USER": "ann"}
		} else {
			by, byName = p.ownKey(t, p.Key).ID, "first key"
		}
		secrets, said := "", ""
		does := func(args ...string) {
			out, errs := p.does(t, args...)
			secrets, said = secrets+out, said+errs
		}
		does("create", "--name", "shop pets_live_0123456789")
		id := regexp.MustCompile(`Created key (key_\w+)`).FindStringSubmatch(said)[1]
		does("update", id, "--name", "shop", "--plan", "pro", "--access", "read", "--expires", "3d")
		does("rotate", id, "--overlap", "2h")
		does("unban", id)
		does("revoke", id)
		does("list")
		does("show", id)
		does("usage")

		line := func(event, name, plan, access string, more map[string]any) map[string]any {
			fields := map[string]any{"level": "INFO", "msg": event, "by": by, "byName": byName, "key": id, "name": name, "owner": id, "access": access, "plan": plan}
			maps.Copy(fields, more)
			return fields
		}
		successor := ""
		for _, key := range testservice.Decode[[]testservice.Key](t, mustInvoke(t, "keys", "list", "--json", "--database", p.database)) {
			if key.Owner == id {
				successor = key.ID
			}
		}
		want := []map[string]any{
			line("key created", "shop pets_live_…", "free", "write", nil),
			line("key updated", "shop", "pro", "read", map[string]any{"changed": []any{"name", "plan", "access", "expiresAt"}}),
			line("key rotated", "shop", "pro", "read", map[string]any{"key": successor, "old": id, "overlap": "2h0m0s"}),
			line("key unbanned", "shop", "pro", "read", nil),
			line("key revoked", "shop", "pro", "read", nil),
		}
		log, other := said, p.Stderr.String()
		if by != "operator" {
			log, other = other, log
		}
		if got := auditLines(t, log); !reflect.DeepEqual(got, want) {
			t.Errorf("the log has\n%v\nwant\n%v", got, want)
		}
		if got := auditLines(t, other); got != nil {
			t.Errorf("the other log has %v", got)
		}
		for _, secret := range testservice.PrintedKey.FindAllString(secrets, -1) {
			if strings.Contains(log+other, secret) {
				t.Errorf("a log has the secret %s", secret)
			}
		}
	})
}
