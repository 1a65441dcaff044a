package main

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// certificate is read from two files, and read again when they change.
type certificate struct {
	certFile, keyFile string

	mu      sync.Mutex
	loaded  *tls.Certificate
	stamp   string
	refused string // the stamp of the files that could not be used
	checked time.Time
}

// certificateCheck is the shortest time between two looks at the files.
const certificateCheck = time.Second

func newCertificate(certFile, keyFile string) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile}
	stamp, err := c.stampNow()
	if err == nil {
		err = c.load(stamp)
	}
	if err != nil {
		return nil, fmt.Errorf("the certificate in --tls-cert %s and --tls-key %s cannot be used: %w", certFile, keyFile, err)
	}
	return c, nil
}

// current returns the certificate. While new files are incomplete or wrong, the old certificate stays in use.
func (c *certificate) current(log *slog.Logger) *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.checked) >= certificateCheck {
		c.checked = now
		if stamp, err := c.stampNow(); err == nil && stamp != c.stamp {
			c.renew(stamp, log)
		}
	}
	return c.loaded
}

// renew reads new files. If they cannot be used, it logs that once, and tries them again at the next look.
func (c *certificate) renew(stamp string, log *slog.Logger) {
	switch err := c.load(stamp); {
	case err == nil:
		log.Info("a newly read certificate is in use", "file", c.certFile, "expires", c.loaded.Leaf.NotAfter)
	case stamp != c.refused:
		c.refused = stamp
		c.refuse(err, log)
	}
}

func (c *certificate) refuse(err error, log *slog.Logger) {
	log.Warn("the new certificate cannot be used, so the old one stays in use", "file", c.certFile, "cause", err.Error())
}

// reread reads the files again, even if they have not changed, and logs the result.
func (c *certificate) reread(log *slog.Logger) {
	c.mu.Lock()
	defer c.mu.Unlock()
	stamp, err := c.stampNow()
	if err != nil {
		c.refuse(err, log)
		return
	}
	c.refused = ""
	c.renew(stamp, log)
}

// rereadOnHangup keeps SIGHUP from ending the server. Instead, the server reads its certificate again, if it has one.
func rereadOnHangup(c *certificate, log *slog.Logger) (stop func()) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for range hangups {
			if c == nil {
				log.Info("SIGHUP does nothing here: there is no certificate to read again")
				continue
			}
			c.reread(log)
		}
	}()
	return func() {
		signal.Stop(hangups)
		close(hangups)
	}
}

func (c *certificate) load(stamp string) error {
	loaded, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err == nil {
		c.loaded, c.stamp = &loaded, stamp
	}
	return err
}

func (c *certificate) stampNow() (string, error) {
	stamp := ""
	for _, name := range []string{c.certFile, c.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			return "", err
		}
		stamp += fmt.Sprint(info.ModTime().UnixNano(), info.Size(), " ")
	}
	return stamp, nil
}
