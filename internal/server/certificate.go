package server

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Certificate is read from two files, and read again when they change.
type Certificate struct {
	certFile, keyFile string

	mu      sync.Mutex
	loaded  *tls.Certificate
	stamp   string
	refused string // the stamp of the files that could not be used
	checked time.Time
}

// certificateCheck is the shortest time between two looks at the files.
const certificateCheck = time.Second

// NewCertificate reads a certificate chain and its private key, both in PEM.
func NewCertificate(certFile, keyFile string) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile}
	stamp, err := c.stampNow()
	if err == nil {
		err = c.load(stamp)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Expires returns when the certificate in use expires, after a look at the files. It logs if they have changed.
func (c *Certificate) Expires(log *slog.Logger) time.Time { return c.current(log).Leaf.NotAfter }

// current returns the certificate. While new files are incomplete or wrong, the old certificate stays in use.
func (c *Certificate) current(log *slog.Logger) *tls.Certificate {
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
func (c *Certificate) renew(stamp string, log *slog.Logger) {
	switch err := c.load(stamp); {
	case err == nil:
		log.Info("a newly read certificate is in use", "file", c.certFile, "expires", c.loaded.Leaf.NotAfter)
	case stamp != c.refused:
		c.refused = stamp
		c.refuse(err, log)
	}
}

func (c *Certificate) refuse(err error, log *slog.Logger) {
	log.Warn("the new certificate cannot be used, so the old one stays in use", "file", c.certFile, "cause", err.Error())
}

// Reread reads the files again, even if they have not changed, and logs the result.
func (c *Certificate) Reread(log *slog.Logger) {
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

func (c *Certificate) load(stamp string) error {
	loaded, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err == nil {
		c.loaded, c.stamp = &loaded, stamp
	}
	return err
}

func (c *Certificate) stampNow() (string, error) {
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
