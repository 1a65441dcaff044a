package service

import (
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"petstore/internal/server"
)

// reloadOnSIGHUP makes the signal SIGHUP reload the certificate, if there is one, instead of ending the server.
func reloadOnSIGHUP(c *server.Certificate, log *slog.Logger) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		for range signals {
			if c == nil {
				log.Info("SIGHUP ignored: there is no certificate to reload")
				continue
			}
			c.Reread(log)
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}
