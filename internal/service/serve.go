package service

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
	"unicode"

	"petstore/internal/database"
	"petstore/internal/egress"
	"petstore/internal/httpapi"
	"petstore/internal/petstore"
	"petstore/internal/ratelimit"
	"petstore/internal/server"
	"petstore/internal/terminal"
	"petstore/internal/web"
)

// Serve is the command that serves the API.
type Serve struct {
	database.Flags
	Redis           string            `placeholder:"URL" help:"The Redis server in which several replicas count requests together: redis://host:6379. By default each replica counts its own."`
	StoreName       string            `default:"Petstore" placeholder:"NAME" help:"The name of the store on its pages, of 1 to 60 characters."`
	Listen          string            `default:":8080" help:"The address on which the API listens."`
	AdminListen     string            `default:"127.0.0.1:8081" help:"The address on which metrics, health and profiles are served; \"\" or off turns them off."`
	BaseURL         string            `name:"base-url" placeholder:"URL" help:"The address that clients use, such as https://api.example.com/v1. Without it, links contain only a path."`
	APIKey          string            `name:"api-key" placeholder:"KEY" help:"An API key of your own choice, of 16 to 128 characters. Every start makes sure that the key works. The key is never printed."`
	RateLimits      string            `enum:"on,off" default:"on" help:"on, or off, which counts requests but refuses none."`
	TrustedProxies  string            `placeholder:"CIDRS" help:"Networks, separated by commas, whose X-Forwarded-For header is trusted."`
	TLSCert         string            `name:"tls-cert" placeholder:"FILE" help:"The certificate chain in PEM. It is reloaded when it changes."`
	TLSKey          string            `name:"tls-key" placeholder:"FILE" help:"The private key in PEM. It is reloaded when it changes."`
	BodyBudget      terminal.Size     `default:"64MiB" help:"How much memory all request bodies together may take, not counting photos and the first 4 KiB of each; at least 8MiB. One owner gets at most an eighth of it."`
	OrderHold       terminal.Duration `default:"72h" help:"How long an order holds its animal by default, from 1m to 30d."`
	EventsKeep      terminal.Duration `default:"30d" help:"How long events are kept, at least 1h."`
	EventsMost      terminal.Size     `default:"1GiB" help:"How much room the kept events may take, at least 1MiB. If they need more, the oldest are removed earlier."`
	WebhookAllow    string            `placeholder:"PLACES" help:"Where webhooks may lead in addition to HTTPS on the ports 443 and 8443 of public addresses: host names, addresses or networks, separated by commas. A port at the end allows only that port; http:// in front allows plain HTTP. For example: 10.1.0.0/16:8443,http://hooks.local:8080."`
	KeepDeprecated  bool              `help:"Keep serving deprecated operations after their removal date."`
	LogLevel        slog.Level        `default:"info" help:"debug, info, warn or error."`
	LogFormat       string            `enum:"auto,text,json" default:"auto" help:"text, json or auto, which is text on a terminal and json elsewhere."`
	ShutdownTimeout time.Duration     `default:"30s" help:"How long running requests may take to finish when the server stops."`
	DrainDelay      time.Duration     `default:"0s" help:"How long to keep serving while reporting unready before the server stops, so that load balancers notice."`
	Check           bool              `help:"Check the settings, the certificate, the database and Redis, print the results, and exit. It opens no port and changes nothing."`
}

// settings are the parsed values of flags, and the certificate from the files that the flags name.
type settings struct {
	baseURL string
	proxies []netip.Prefix
	tls     *server.Certificate
	guard   *egress.Guard
}

// parseSettings checks all flags and returns their values.
func (c *Serve) parseSettings() (s settings, err error) {
	if err := checkAddress("--listen", c.Listen); err != nil {
		return s, err
	}
	if err := checkAddress("--admin-listen", c.AdminListen); c.servesAdmin() && err != nil {
		return s, err
	}
	if s.baseURL, err = parseBaseURL(c.BaseURL); err != nil {
		return s, err
	}
	if err := checkStoreName(c.StoreName); err != nil {
		return s, err
	}
	if s.proxies, err = parseNetworks(c.TrustedProxies); err != nil {
		return s, err
	}
	if c.APIKey != "" {
		if err := petstore.CheckNamedSecret(c.APIKey); err != nil {
			return s, terminal.WrongUsage("--api-key: %w", err)
		}
	}
	if c.Redis != "" {
		if err := database.CheckPassword("--redis", c.Redis); err != nil {
			return s, err
		}
		if err := ratelimit.CheckURL(c.Redis); err != nil {
			return s, terminal.WrongUsage("--redis: %w", err)
		}
	}
	if hold := time.Duration(c.OrderHold); hold < petstore.MinHold || hold > petstore.MaxHold {
		return s, terminal.WrongUsage("--order-hold is %s; it must be a duration from 1m to 30d, such as 72h", hold)
	}
	if c.BodyBudget < httpapi.MinBodyBudget {
		return s, terminal.WrongUsage("--body-budget is too small; it must be at least 8MiB, so that one owner's eighth of it has room for the largest body")
	}
	if keep := time.Duration(c.EventsKeep); keep < minEventsKeep {
		return s, terminal.WrongUsage("--events-keep is %s; it must be a duration of at least 1h, such as 30d", keep)
	}
	if c.EventsMost < minEventsMost {
		return s, terminal.WrongUsage("--events-most is too small; it must be at least 1MiB")
	}
	if s.guard, err = egress.New(splitList(c.WebhookAllow)); err != nil {
		return s, terminal.WrongUsage("--webhook-allow: %w", err)
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return s, terminal.WrongUsage("--tls-cert and --tls-key must be given together")
	}
	if c.TLSCert != "" {
		if s.tls, err = server.NewCertificate(c.TLSCert, c.TLSKey); err != nil {
			return s, fmt.Errorf("the certificate in --tls-cert %s and --tls-key %s cannot be used: %w", c.TLSCert, c.TLSKey, err)
		}
	}
	return s, nil
}

// The least that may be kept of the events.
const (
	minEventsKeep = time.Hour
	minEventsMost = 1 << 20
)

// servesAdmin reports whether the server has an admin listener.
func (c *Serve) servesAdmin() bool { return c.AdminListen != "" && c.AdminListen != "off" }

// gcPercent lets the heap grow more than Go's default does before a garbage collection. The heap is small, and most of it is
// garbage from requests. The environment variable GOGC overrides gcPercent.
const gcPercent = 400

// Run checks the settings and serves until ctx ends. With --check, it only checks what serve needs.
func (c *Serve) Run(ctx context.Context, con *terminal.Console) error {
	s, err := c.parseSettings()
	if err != nil {
		return err
	}
	if c.Check {
		return c.check(ctx, con, s)
	}
	log := newLogs(con.Stderr, c.LogLevel, c.LogFormat)
	defer log.queue.Close()
	signal.Ignore(syscall.SIGPIPE) // keeps the server running when the reader of its output is gone
	defer reloadOnSIGHUP(s.tls, log.Logger)()
	if con.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	return (&service{Serve: c, settings: s, con: con, log: log}).run(ctx)
}

// config returns the part of the API's configuration that comes from the settings.
func (c *Serve) config(s settings) httpapi.Config {
	shown := c.webSettings(s)
	pages := web.Pages(shown)
	return httpapi.Config{
		Environment:    c.Environment,
		Pages:          pages,
		NoPage:         web.NotFound(shown, pages),
		NamedKey:       c.APIKey,
		BaseURL:        s.baseURL,
		TrustedProxies: s.proxies,
		CountOnly:      c.RateLimits == "off",
		OrderHold:      time.Duration(c.OrderHold),
		KeepDeprecated: c.KeepDeprecated,
		MaxWorking:     server.MaxWorking,
		BodyBudget:     int64(c.BodyBudget),
		Now:            time.Now,
	}
}

// parseBaseURL checks --base-url and removes the version from its end. Every link of the API begins with the result.
func parseBaseURL(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	u, err := url.Parse(s)
	if err != nil || !isBase(u) || strings.ContainsAny(s, "<> \"") {
		return "", terminal.WrongUsage("--base-url is %q; it must be an address such as https://api.example.com/v1", terminal.HideCredentials(s))
	}
	path := strings.TrimSuffix(strings.TrimRight(u.EscapedPath(), "/"), "/v1")
	return u.Scheme + "://" + u.Host + path, nil
}

// isBase reports whether links can begin with u.
func isBase(u *url.URL) bool {
	return terminal.IsWebAddress(u) && !strings.ContainsFunc(u.Host, func(c rune) bool { return c > unicode.MaxASCII })
}

// splitList returns the entries of a list, which are separated by commas.
func splitList(s string) (entries []string) {
	for field := range strings.SplitSeq(s, ",") {
		if field = strings.TrimSpace(field); field != "" {
			entries = append(entries, field)
		}
	}
	return entries
}

func parseNetworks(s string) ([]netip.Prefix, error) {
	var networks []netip.Prefix
	for _, field := range splitList(s) {
		network := parseNetwork(field)
		if !network.IsValid() {
			return nil, terminal.WrongUsage("--trusted-proxies contains %q; it must be networks such as 10.0.0.0/8, separated by commas", field)
		}
		networks = append(networks, network.Masked())
	}
	return networks, nil
}

// parseNetwork parses a network or a single address. It converts an IPv4 network in IPv6 form to IPv4, because client
// addresses have the IPv4 form. The result is invalid if s is neither a network nor an address.
func parseNetwork(s string) netip.Prefix {
	network, _ := netip.ParsePrefix(s)
	if addr, err := netip.ParseAddr(s); err == nil {
		network = netip.PrefixFrom(addr, addr.BitLen())
	}
	if addr := network.Addr(); addr.Is4In6() {
		return netip.PrefixFrom(addr.Unmap(), network.Bits()-96)
	}
	return network
}
