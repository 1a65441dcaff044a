package httpapi_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata/exchanges")

// Each file in testdata/exchanges is a conversation with a new service. Each turn has a title, the request and the
// answer, as they are sent but without the Date header. A name in braces stands for the secret of a key, {length} for the
// length of the body, {time} for a time in an answer, {jpeg} for the file of a photo, and {token} for the token of the last
// photo. {key1} stands for the first key id that an answer shows, {key2} for the second, and so on, {secret} for the last
// secret, {cursor} for the cursor of a list of keys, webhooks or deliveries, which contains an id, and {feed} for the name of the
// feed of events. {hook1} stands for the first id of a webhook, and so on, {whsec} for the secret of a webhook, {delivery} for
// the id of a delivery, and {ping} for that of a ping.
// "after 10s" moves the clock before the request. "times 60" sends the request 60 times; the file then shows the last
// answer. A file may begin with flags of the service, such as "serve --rate-limits=off".
func TestGoldenConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/exchanges/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no exchanges: %v", err)
	}
	onEveryStorage(t, func(t *testing.T, open opener) {
		for _, file := range files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { runConversation(t, file, on(open(t))) })
		}
	})
}

// This conversation runs only on SQLite. On PostgreSQL, orders expire by the clock of the database, which a test cannot
// move.
func TestGoldenConversationOnExpiry(t *testing.T) {
	runConversation(t, "testdata/expiry.txt", func(c *httpapi.Config) { c.Storage = openSQLiteAt(t, c.Now) })
}

// The files of photos are not part of the API that clients of the API read, so this conversation is in a file of its own.
func TestGoldenConversationOnPhotoFiles(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) { runConversation(t, "testdata/photofiles.txt", on(open(t))) })
}

func runConversation(t *testing.T, file string, storage func(*httpapi.Config)) {
	text, err := os.ReadFile(file)
	noError(t, err)
	flags, turns, err := parseConversation(string(text))
	noError(t, err)
	s := serve(t, append(flags, storage)...)
	keys := make(map[string]string)
	for i := range turns {
		s.clock.step(turns[i].after)
		got := s.repeat(turns[i].raw(s, keys), turns[i].times)
		if strings.Contains(turns[i].request, "{secret}") {
			s.awaitUse(s.shownSecret)
		}
		if *update {
			turns[i].response = got
		} else if got != turns[i].response {
			t.Errorf("%s\ngot\n%s\nwant\n%s", turns[i].title, got, turns[i].response)
		}
	}
	if *update {
		noError(t, os.WriteFile(file, []byte(withAnswers(string(text), turns)), 0o644))
	}
}

var (
	date     = regexp.MustCompile(`(?m)^Date: .*\r\n`)
	tokenOf  = regexp.MustCompile(`\b[0-9a-f]{32}\b`)
	keyIDOf  = regexp.MustCompile(`\bkey_[0-9A-Za-z]{9}\b`)
	secretOf = regexp.MustCompile(`\bpets_live_[0-9A-Za-z]{33}\b`)
	feedOf   = regexp.MustCompile(`\bevt_([0-9a-z]{4})_`)
	cursorOf = regexp.MustCompile(`\bcursor=(BA[\w-]{28}|BQ[\w-]{46}|Bm[\w-]{37})`)

	hookIDOf     = regexp.MustCompile(`\bwh_[0-9a-f]{24}\b`)
	hookSecretOf = regexp.MustCompile(`\bwhsec_[0-9A-Za-z+/]{43}=`)
	deliveryIDOf = regexp.MustCompile(`\bdlv_[0-9a-f]{24}\b`)
	pingIDOf     = regexp.MustCompile(`\bping_[0-9a-f]{24}\b`)
	timeOf       = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)
)

// feedOfExamples is the name of the feed that messages have as an example.
const feedOfExamples = "4f7k"

func (s *service) repeat(raw string, times int) (last string) {
	s.Helper()
	for range times {
		last = s.send(raw).raw
	}
	s.token = cmp.Or(tokenOf.FindString(last), s.token)
	if secret := secretOf.FindString(last); secret != "" {
		s.shownSecret = secret
		s.log.secrets = append(s.log.secrets, secret)
	}
	if feed := feedOf.FindStringSubmatch(last); feed != nil && feed[1] != feedOfExamples {
		s.feed = feed[1]
		last = strings.ReplaceAll(last, "evt_"+s.feed+"_", "evt_{feed}_")
	}
	last = strings.ReplaceAll(date.ReplaceAllString(last, ""), "\r\n", "\n")
	last = tokenOf.ReplaceAllString(last, "{token}")
	last = secretOf.ReplaceAllString(last, "{secret}")
	if cursor := cursorOf.FindStringSubmatch(last); cursor != nil {
		s.cursor = cursor[1]
	}
	last = cursorOf.ReplaceAllString(last, "cursor={cursor}")
	s.log.secrets = append(s.log.secrets, hookSecretOf.FindAllString(last, -1)...)
	last = hookSecretOf.ReplaceAllString(last, "{whsec}")
	last = deliveryIDOf.ReplaceAllString(last, "{delivery}")
	last = pingIDOf.ReplaceAllString(last, "{ping}")
	last = keyIDOf.ReplaceAllStringFunc(last, func(id string) string { return fmt.Sprintf("{key%d}", numberOf(&s.shownKeys, id)) })
	last = hookIDOf.ReplaceAllStringFunc(last, func(id string) string { return fmt.Sprintf("{hook%d}", numberOf(&s.shownHooks, id)) })
	return strings.TrimRight(timeOf.ReplaceAllString(last, "{time}"), "\n") + "\n"
}

// awaitUse waits until the storage shows that a key was used, unless the key has ended.
func (s *service) awaitUse(secret string) {
	s.Helper()
	for range 30_000 {
		key, err := s.storage.FindKey(s.Context(), petstore.HashSecret(secret))
		noError(s, err)
		if !key.LastUsedAt.IsZero() || key.Usable(s.clock.now()) != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
	s.Fatal("the storage does not show that the key was used")
}

// numberOf returns the number of an id in the order in which answers have shown the ids, counted from 1.
func numberOf(shown *[]string, id string) int {
	at := slices.Index(*shown, id)
	if at < 0 {
		at = len(*shown)
		*shown = append(*shown, id)
	}
	return at + 1
}

// turn is one request of a conversation, and its answer.
type turn struct {
	title    string
	after    time.Duration
	times    int
	request  string
	response string
}

var (
	titleMark    = regexp.MustCompile(`(?m)^== `)
	directive    = regexp.MustCompile(`^(after|times) (\S+)$`)
	idNumber     = regexp.MustCompile(`^\{(key|hook)(\d+)\}$`)
	nameInBraces = regexp.MustCompile(`\{(\w+)\}`)
)

func parseConversation(text string) (flags []func(*httpapi.Config), turns []turn, err error) {
	parts := titleMark.Split(text, -1)
	for _, flag := range strings.Fields(strings.TrimPrefix(parts[0], "serve")) {
		set, ok := serveFlags[flag]
		if !ok {
			return nil, nil, fmt.Errorf("there is no flag %s", flag)
		}
		flags = append(flags, set)
	}
	for _, part := range parts[1:] {
		head, rest, _ := strings.Cut(part, "\n-- request\n")
		request, response, _ := strings.Cut(rest, "\n-- response\n")
		title, directives, _ := strings.Cut(head, "\n")
		l := turn{title: title, times: 1, request: request, response: strings.TrimRight(response, "\n") + "\n"}
		for d := range strings.Lines(directives) {
			word := directive.FindStringSubmatch(strings.TrimSpace(d))
			switch {
			case word == nil:
				err = fmt.Errorf("%s: what is %q?", title, d)
			case word[1] == "after":
				l.after, err = time.ParseDuration(word[2])
			default:
				l.times, err = strconv.Atoi(word[2])
			}
			if err != nil {
				return nil, nil, err
			}
		}
		turns = append(turns, l)
	}
	return flags, turns, nil
}

var serveFlags = map[string]func(*httpapi.Config){
	"--base-url=https://api.example.com/v1": func(c *httpapi.Config) { c.BaseURL = "https://api.example.com" },
	"--keep-deprecated":                     func(c *httpapi.Config) { c.KeepDeprecated = true },
	"--rate-limits=off":                     func(c *httpapi.Config) { c.CountOnly = true },
}

// withAnswers replaces the answers in the text of a conversation.
func withAnswers(text string, turns []turn) string {
	parts := titleMark.Split(text, -1)
	for i, l := range turns {
		head, rest, _ := strings.Cut(parts[i+1], "\n-- request\n")
		request, _, _ := strings.Cut(rest, "\n-- response\n")
		parts[i+1] = head + "\n-- request\n" + strings.TrimRight(request, "\n") + "\n\n-- response\n" + l.response + "\n"
	}
	return strings.TrimRight(strings.Join(parts, "== "), "\n") + "\n"
}

// raw returns the bytes of the request that the test sends.
func (l turn) raw(s *service, keys map[string]string) string {
	head, body, _ := strings.Cut(strings.TrimRight(l.request, "\n")+"\n\n", "\n\n")
	body = strings.TrimRight(body, "\n")
	if body == "{jpeg}" {
		body = string(jpegOf(s, 8, 6))
	}
	body = strings.ReplaceAll(body, "{feed}", s.feed)
	head = nameInBraces.ReplaceAllStringFunc(head, func(name string) string {
		if name == "{length}" {
			return strconv.Itoa(len(body))
		}
		if name == "{token}" {
			return s.token
		}
		if name == "{feed}" {
			return s.feed
		}
		if name == "{secret}" {
			return s.shownSecret
		}
		if name == "{cursor}" {
			return s.cursor
		}
		if number := idNumber.FindStringSubmatch(name); number != nil {
			n, _ := strconv.Atoi(number[2])
			return map[string][]string{"key": s.shownKeys, "hook": s.shownHooks}[number[1]][n-1]
		}
		if keys[name] == "" {
			keys[name] = s.keyNamed(strings.Trim(name, "{}"))
		}
		return keys[name]
	})
	return strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + body
}

// keyNamed creates the key that a name in braces stands for.
func (s *service) keyNamed(name string) string {
	s.Helper()
	free, _ := petstore.Free.Limits(0, 0)
	now := s.clock.now()
	key := petstore.NewKey(name, petstore.Free, free, now, petstore.Forever)
	key.LastUsedAt = now.Truncate(time.Hour) // the service would store it at an unknown time
	after := func(petstore.Key) error { return nil }
	switch name {
	case "free", "other":
	case "hourly":
		key.Lifetime, key.ExpiresAt = time.Hour, now.Add(time.Hour)
	case "reader":
		key.Access = petstore.ReadOnly
	case "admin", "admin2":
		key.Access, key.Plan, key.Limits = petstore.Admin, petstore.Enterprise, petstore.FirstKeyLimits
	case "revoked":
		after = func(key petstore.Key) error {
			return writeError(s.storage.RevokeKey(s.Context(), key.ID, petstore.ByOperator(now)))
		}
	case "banned":
		after = func(key petstore.Key) error {
			_, err := s.storage.BanOwner(s.Context(), key.Owner, now)
			return err
		}
	case "used":
		after = func(key petstore.Key) error { return s.addUsage(key.Owner, petstore.Usage{Passed: 59, Refused: 3}) }
	case "unknown":
		return s.secret(petstore.Production)
	case "staging":
		return s.secret(petstore.Staging)
	default:
		s.Fatalf("there is no key {%s}", name)
	}
	secret, key := s.createKey(key)
	noError(s, after(key))
	return secret
}

// addUsage adds usage in the current hour, by the later of the clocks of the service and of the storage. So both show it.
func (s *service) addUsage(owner string, usage petstore.Usage) error {
	now := time.Now()
	if s.clock.now().After(now) {
		now = s.clock.now()
	}
	usage.Hour = now.UTC().Truncate(time.Hour)
	_, err := s.storage.(petstore.Upkeep).AddUsage(s.Context(), []petstore.OwnerUsage{{Owner: owner, Usage: usage}}, nil)
	return err
}
