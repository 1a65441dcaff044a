package remote

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"petstore/internal/profile"
	"petstore/internal/terminal"
)

// API is the command that sends one request exactly as the person typed it, and prints the answer.
type API struct {
	profile.Flags
	Method  string   `arg:"" help:"The method, such as GET or POST."`
	Path    string   `arg:"" help:"The path under /v1, with its query, such as /pets?limit=5."`
	Input   string   `placeholder:"FILE" help:"The file with the body of the request, or - for standard input."`
	Header  []string `short:"H" sep:"none" placeholder:"NAME: VALUE" help:"Send this header too. The flag can be repeated. A body is sent as application/json unless Content-Type says otherwise."`
	Include bool     `short:"i" help:"Print the status and the headers of the answer before its body."`
}

// Help explains the exit status, and shows examples.
func (API) Help() string {
	return "The request is sent once and never repeated. The body of the answer is printed as it is; on a terminal, JSON is indented. If the server refuses the request, its answer is printed too, and the exit status is 1, or 4 if it refused the key.\n\n" + examples(
		"petstore api GET '/pets?status=sold&limit=100'",
		`echo '{"name":"Biscuit","categoryId":1}' | petstore api POST /pets --input -`,
		"petstore api -i GET /inventory")
}

// Interrupted says what an interrupted request may have done on the server.
func (c *API) Interrupted() string {
	if c.reads() {
		return ""
	}
	return "the change may have been made, so check before you repeat the command"
}

// reads reports whether the request only reads.
func (c *API) reads() bool {
	return slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, strings.ToUpper(c.Method))
}

// Run sends the request and prints the answer.
func (c *API) Run(ctx context.Context, con *terminal.Console) error {
	p, err := c.Target(con)
	if err != nil {
		return err
	}
	request, err := c.request(ctx, p)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", cmp.Or(request.Header.Get("User-Agent"), "petstore-cli/"+con.Version))
	answer, err := send(request)
	if err != nil {
		return profile.Explain(err)
	}
	defer answer.Body.Close()
	if err := c.print(con, answer); err != nil {
		return err
	}
	if answer.StatusCode < 300 {
		return nil
	}
	err = fmt.Errorf("the server answered %s", terminal.Escape(answer.Status))
	if answer.StatusCode == http.StatusUnauthorized {
		err = terminal.KeyError{Err: err}
	}
	return err
}

// request returns a request to the server in a profile. No path can make the request go to another server.
func (c *API) request(ctx context.Context, p profile.Profile) (*http.Request, error) {
	if strings.Contains(c.Path, "://") {
		return nil, terminal.WrongUsage("<path> is an address; it must be a path such as /pets, and --server or --profile chooses the server")
	}
	path := strings.TrimPrefix(strings.TrimLeft(c.Path, "/"), "v1/")
	body, err := c.body(ctx)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, strings.ToUpper(c.Method), p.Server+"/v1/"+path, bytes.NewReader(body))
	if err != nil {
		return nil, terminal.WrongUsage("no request can be made of %q and %q; write a method such as GET and a path such as /pets", c.Method, c.Path)
	}
	if c.Input != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for _, header := range c.Header {
		name, value, ok := strings.Cut(header, ":")
		if !ok {
			return nil, terminal.WrongUsage("--header is %q; it must be a name, a colon and a value, such as 'Idempotency-Key: order-17'", header)
		}
		request.Header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	request.Header.Set("Authorization", "Bearer "+p.Key)
	return request, nil
}

// body returns the body of the request.
func (c *API) body(ctx context.Context) ([]byte, error) {
	switch c.Input {
	case "":
		return nil, nil
	case "-":
		return terminal.Interruptible(ctx, func() ([]byte, error) { return io.ReadAll(os.Stdin) })
	}
	return os.ReadFile(c.Input)
}

// headerTimeout is how long send waits until an answer begins.
const headerTimeout = 30 * time.Second

// send sends a request. It does not follow redirects, because it must not send the key to another server.
func send(request *http.Request) (*http.Response, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = headerTimeout
	sender := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return sender.Do(request)
}

// print prints the answer. In a pipe, print writes the body unchanged, as it arrives.
func (c *API) print(con *terminal.Console, answer *http.Response) error {
	if c.Include {
		var head bytes.Buffer
		answer.Header.Write(&head) // cannot fail, because a buffer accepts every write
		text := answer.Proto + " " + answer.Status + "\n" + strings.ReplaceAll(head.String(), "\r\n", "\n") + "\n"
		if _, err := io.WriteString(con.Stdout, terminal.EscapeJSON(text)); err != nil {
			return err
		}
	}
	if !terminal.IsTerminal(con.Stdout) {
		_, err := io.Copy(con.Stdout, answer.Body)
		return cutOff(err)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return cutOff(err)
	}
	var indented bytes.Buffer
	if json.Indent(&indented, body, "", "  ") == nil {
		body = indented.Bytes()
	}
	text := strings.TrimRight(string(body), "\n")
	if text == "" {
		return nil
	}
	_, err = io.WriteString(con.Stdout, terminal.EscapeJSON(text)+"\n")
	return err
}

// cutOff explains an error that occurred while reading an answer.
func cutOff(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the answer was cut off: %w", err)
	}
	return err
}
