package service

import (
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"petstore/internal/server"
)

// rereadOnHangup keeps SIGHUP from ending the server. Instead, the server reads its certificate again, if it has one.
func rereadOnHangup(c *server.Certificate, log *slog.Logger) (stop func()) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for range hangups {
			if c == nil {
				log.Info("SIGHUP does nothing here: there is no certificate to read again")
				continue
			}
			c.Reread(log)
		}
	}()
	return func() {
		signal.Stop(hangups)
		close(hangups)
	}
}
