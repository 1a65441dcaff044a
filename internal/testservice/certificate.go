package testservice

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"testing"
	"time"
)

// WriteCertificate writes a certificate for 127.0.0.1 with the given serial number, and the certificate's key, into two
// files. The certificate is valid for an hour. Clients that use the returned pool trust the certificate.
func WriteCertificate(t testing.TB, certFile, keyFile string, serial int64) *x509.CertPool {
	t.Helper()
	return WriteCertificateUntil(t, certFile, keyFile, serial, time.Now().Add(time.Hour))
}

// WriteCertificateUntil is like WriteCertificate, but the certificate is valid until end.
func WriteCertificateUntil(t testing.TB, certFile, keyFile string, serial int64, end time.Time) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	noError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: end, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	noError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	noError(t, err)
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: keyDER}} {
		noError(t, os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return pool
}
