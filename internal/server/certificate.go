package server

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Certificate holds a TLS certificate that was read from two files. It reads the files again when they change.
type Certificate struct {
	certFile, keyFile string

	mu      sync.Mutex
	loaded  *tls.Certificate
	used    pair // the content from which the certificate was loaded
	refused pair // the latest content that could not be used
	checked time.Time
}

// pair is the content of the two files. Comparing the times and sizes of the files would miss some changes, because some
// tools that replace files give all files the same time.
type pair struct{ cert, key string }

// certificateInterval is the shortest time between two checks of the files.
const certificateInterval = time.Second

// NewCertificate reads a certificate chain and its private key, both in PEM.
func NewCertificate(certFile, keyFile string) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile}
	found, err := c.read()
	if err == nil {
		err = c.load(found)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Expires returns the time when the certificate in use expires. It first checks whether the files have changed, and logs a
// change.
func (c *Certificate) Expires(log *slog.Logger) time.Time { return c.current(log).Leaf.NotAfter }

// current returns the certificate in use. While the new files are incomplete or wrong, the old certificate stays in use.
func (c *Certificate) current(log *slog.Logger) *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.checked) >= certificateInterval {
		c.checked = now
		if found, err := c.read(); err == nil && found != c.used {
			c.renew(found, log)
		}
	}
	return c.loaded
}

// renew loads the certificate from the new content of the files. If it cannot use the content, renew logs the problem once.
func (c *Certificate) renew(found pair, log *slog.Logger) {
	switch err := c.load(found); {
	case err == nil:
		log.Info("a newly read certificate is in use", "file", c.certFile, "expires", c.loaded.Leaf.NotAfter)
	case found != c.refused:
		c.refused = found
		c.logRefusal(err, log)
	}
}

func (c *Certificate) logRefusal(err error, log *slog.Logger) {
	log.Warn("the new certificate cannot be used, so the old one stays in use", "file", c.certFile, "cause", err.Error())
}

// Reread reads the files again, even if they have not changed, and logs the result.
func (c *Certificate) Reread(log *slog.Logger) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, err := c.read()
	if err != nil {
		c.logRefusal(err, log)
		return
	}
	c.refused = pair{}
	c.renew(found, log)
}

func (c *Certificate) load(found pair) error {
	loaded, err := tls.X509KeyPair([]byte(found.cert), []byte(found.key))
	if err == nil {
		c.loaded, c.used = &loaded, found
	}
	return err
}

func (c *Certificate) read() (pair, error) {
	cert, err := os.ReadFile(c.certFile)
	if err != nil {
		return pair{}, err
	}
	key, err := os.ReadFile(c.keyFile)
	return pair{string(cert), string(key)}, err
}
