package service

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"petstore/internal/testservice"
)

func TestMetricsShowTheContentAndTheCallsOfTheStorage(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "pets.db") },
		"postgres": func(t *testing.T) string { return testservice.Postgres(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := testservice.ServeRaced(t, "--admin-listen", "127.0.0.1:0", "--database", database(t))
			placed := func() int64 {
				t.Helper()
				animal := testservice.Decode[testservice.Pet](t, s.Ask(t, "POST", "/v1/pets", `{"name":"Rex","categoryId":1}`).Body)
				return testservice.Decode[struct{ ID int64 }](t, s.Ask(t, "POST", "/v1/orders", fmt.Sprintf(`{"petId":%d}`, animal.ID)).Body).ID
			}
			completed, cancelled := placed(), placed()
			placed()
			for range 2 { // the second pass changes nothing
				s.Ask(t, "POST", fmt.Sprintf("/v1/orders/%d/complete", completed), "")
				s.Ask(t, "POST", fmt.Sprintf("/v1/orders/%d/cancel", cancelled), "")
			}
			s.Ask(t, "GET", "/v1/pets/999", "")
			stored := addPhoto(t, s)

			metrics := s.Scrape(t)
			for _, line := range []string{
				`petstore_orders_total{event="placed"} 3`,
				`petstore_orders_total{event="completed"} 1`,
				`petstore_orders_total{event="cancelled"} 1`,
				`petstore_orders_total{event="expired"} 0`,
				`petstore_open_orders 1`,
				fmt.Sprintf("petstore_photos_bytes %d\n", stored),
				`petstore_pets{status="available"} 1`,
				`petstore_pets{status="pending"} 1`,
				`petstore_pets{status="sold"} 1`,
				`petstore_store_duration_seconds_count{kind="read",outcome="failed"} 0`,
				`petstore_store_duration_seconds_count{kind="write",outcome="failed"} 0`,
				`petstore_store_connection_waits_total `,
			} {
				if !strings.Contains(metrics, "\n"+line) {
					t.Errorf("the metrics lack %s", line)
				}
			}
			for _, positive := range []string{
				`petstore_store_duration_seconds_count{kind="read",outcome="ok"}`, `petstore_store_duration_seconds_count{kind="write",outcome="ok"}`,
				`petstore_store_connections_limit`,
			} {
				if sampleOf(t, metrics, positive) <= 0 {
					t.Errorf("%s is not positive", positive)
				}
			}
		})
	}
}

// addPhoto adds a photo to an animal and returns the bytes of its files.
func addPhoto(t *testing.T, s *testservice.Instance) (stored int) {
	t.Helper()
	var file bytes.Buffer
	if err := jpeg.Encode(&file, image.NewGray(image.Rect(0, 0, 500, 300)), nil); err != nil {
		t.Fatal(err)
	}
	photo := testservice.Decode[struct{ URL, ThumbnailURL string }](t, s.Ask(t, "POST", "/v1/pets/1/photos", file.String()).Body)
	return len(s.Ask(t, "GET", photo.URL, "").Body) + len(s.Ask(t, "GET", photo.ThumbnailURL, "").Body)
}

// sampleOf returns the value of a metric.
func sampleOf(t *testing.T, metrics, name string) float64 {
	t.Helper()
	found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindStringSubmatch(metrics)
	if found == nil {
		t.Fatalf("the metrics lack %s:\n%s", name, metrics)
	}
	value, err := strconv.ParseFloat(found[1], 64)
	noError(t, err)
	return value
}

func TestMetricsShowTheLastBackupAndTheCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	database, certFile, keyFile := "sqlite:"+filepath.Join(dir, "pets.db"), filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	testservice.WriteCertificate(t, certFile, keyFile, 1)
	s := testservice.Serve(t, "--admin-listen", "127.0.0.1:0", "--database", database, "--tls-cert", certFile, "--tls-key", keyFile)
	const lastBackup = "petstore_last_backup_timestamp_seconds"
	before := s.Scrape(t)
	if strings.Contains(before, lastBackup) {
		t.Error("the metrics show a last backup before there was one")
	}
	if sampleOf(t, before, "petstore_wal_bytes") <= 0 {
		t.Error("the write-ahead log is empty")
	}
	if left := sampleOf(t, before, "petstore_certificate_expiry_timestamp_seconds") - float64(time.Now().Unix()); left <= 0 || left > 3600 {
		t.Errorf("the certificate is valid for %v seconds", left)
	}
	began := time.Now().Unix()
	if _, stderr, status := testservice.Run(t, "backup", filepath.Join(dir, "backup.db"), "--database", database); status != 0 || strings.Contains(stderr, "could not be recorded") {
		t.Fatal(stderr)
	}
	if at := sampleOf(t, s.Scrape(t), lastBackup); at < float64(began) || at > float64(time.Now().Unix()) {
		t.Errorf("the last backup was at %v", at)
	}
}
