package server

import (
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

// If a new version of net/http words its refusals differently, this test fails, and refusedByServer must be changed.
func TestRequestsThatNetHTTPRefusesAreAnsweredByRefusal(t *testing.T) {
	t.Parallel()
	refusal := func(peer string, status int, message string) []byte {
		if _, err := netip.ParseAddrPort(peer); err != nil || message == "" {
			t.Errorf("the refusal is for the peer %q and says %q", peer, message)
		}
		return fmt.Appendf(nil, "refused with %d", status)
	}
	handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s is handled", r.URL) })
	plain, _ := start(t, &Server{Handler: handler, AnswerMalformed: refusal})
	secure, _ := start(t, &Server{Handler: handler, AnswerMalformed: refusal, Certificate: testCertificate(t)})
	expect := func(address, sends string, status int) {
		t.Helper()
		if got, want := testservice.SendRaw(t, address, sends), fmt.Sprintf("refused with %d", status); got != want {
			t.Errorf("%.100q gets %q, want %q", sends, got, want)
		}
	}
	for _, c := range testservice.NotHTTP {
		expect(plain, c.Sends, c.Status)
	}
	expect(secure, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", http.StatusBadRequest)
}

// The answers are so long that net/http writes them in several pieces. Each piece begins at another place in the text.
func TestAnswersAreNeverMistakenForRefusals(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"HTTP/1.1 417", "HTTP/1.1 417 Expectation Failed", "HTTP/1.0 400 Bad Request", "HTTP/1.1 431 x" + strings.ReplaceAll(refusalHeaders, "\r\n", `\r\n`)} {
		address, _ := start(t, &Server{
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.WriteString(w, r.URL.Path+strings.Repeat(text, 10_000/len(text)))
			}),
			AnswerMalformed: func(_ string, status int, _ string) []byte { return fmt.Appendf(nil, "refused with %d", status) },
		})
		for i := range text {
			got := testservice.SendRaw(t, address, "GET /"+strings.Repeat("a", i)+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			if strings.Contains(got, "refused with") || !strings.Contains(got, text) {
				t.Errorf("%.50q… is mistaken for a refusal: %.300q", text, got)
			}
		}
	}
}
