package server

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"petstore/internal/testservice"
)

func TestACertificateIsReadAgainWhenItsFilesChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	first := time.Now().Truncate(time.Second).Add(time.Hour)
	second := first.Add(time.Hour)
	write := func(serial int64, until time.Time) {
		t.Helper()
		testservice.WriteCertificateUntil(t, certFile, keyFile, serial, until)
		for _, file := range []string{certFile, keyFile} { // both files get the same time, as with some tools
			noError(t, os.Chtimes(file, first, first))
		}
	}
	write(1, first)
	c, err := NewCertificate(certFile, keyFile)
	noError(t, err)
	var logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(&logged, nil))
	expect := func(when string, want time.Time, says string) {
		t.Helper()
		c.checked = time.Time{} // as if the last check were long ago
		got := c.Expires(log)
		if !got.Equal(want) || !strings.Contains(logged.String(), says) || (says == "") != (logged.Len() == 0) {
			t.Errorf("%s: the certificate expires at %s, want %s; the log has %q, want %q", when, got, want, &logged, says)
		}
		logged.Reset()
	}
	const kept, renewed = "the old one stays in use", "a newly read certificate is in use"
	expect("unchanged", first, "")
	noError(t, os.WriteFile(certFile, []byte("half written"), 0o600))
	expect("half written", first, kept)
	expect("still half written", first, "")

	c.Reread(log)
	expect("read again, still half written", first, kept)

	write(2, second)
	expect("renewed", second, renewed)
	c.Reread(log)
	expect("read again, though unchanged", second, renewed)

	noError(t, os.Remove(keyFile))
	expect("without its key", second, "")
	c.Reread(log)
	expect("read again without its key", second, kept)
	if _, err := NewCertificate(certFile, keyFile); !os.IsNotExist(err) {
		t.Errorf("a certificate without a key: %v", err)
	}
}
