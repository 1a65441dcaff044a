package server

import (
	"crypto/tls"
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
	used    pair // what it was made of
	refused pair // what could not be used
	checked time.Time
}

// pair is what the two files contain. Their times and sizes do not tell whether they have changed: some tools that replace
// files give all of them the same time.
type pair struct{ cert, key string }

// certificateCheck is the shortest time between two looks at the files.
const certificateCheck = time.Second

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

// Expires returns when the certificate in use expires, after a look at the files. It logs if they have changed.
func (c *Certificate) Expires(log *slog.Logger) time.Time { return c.current(log).Leaf.NotAfter }

// current returns the certificate. While new files are incomplete or wrong, the old certificate stays in use.
func (c *Certificate) current(log *slog.Logger) *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.checked) >= certificateCheck {
		c.checked = now
		if found, err := c.read(); err == nil && found != c.used {
			c.renew(found, log)
		}
	}
	return c.loaded
}

// renew uses new files. If they cannot be used, it logs that once.
func (c *Certificate) renew(found pair, log *slog.Logger) {
	switch err := c.load(found); {
	case err == nil:
		log.Info("a newly read certificate is in use", "file", c.certFile, "expires", c.loaded.Leaf.NotAfter)
	case found != c.refused:
		c.refused = found
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
	found, err := c.read()
	if err != nil {
		c.refuse(err, log)
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
