package service

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/terminal"
)

// makeKey makes sure that the operator's key exists. If the operator chose none and the database is empty, it makes a key
// and prints how to use it.
func (s *service) makeKey(ctx context.Context) error {
	address := publicURL(s.listener, s.set.tls != nil)
	keys, err := s.storage.Keys(ctx)
	if err != nil {
		return err
	}
	key := petstore.NewKey("first key", petstore.Enterprise, petstore.FirstKeyLimits, time.Now(), petstore.Forever)
	made, secret, shown := len(keys) == 0, s.APIKey, `"Authorization: Bearer $PETSTORE_API_KEY"`
	if secret != "" {
		key.Name = "named by the operator"
		err = s.storage.EnsureKey(ctx, key, petstore.HashSecret(secret))
	} else if made {
		secret = petstore.NewSecret(s.Environment)
		shown = "'Authorization: Bearer " + secret + "'"
		made, err = s.storage.CreateFirstKey(ctx, key, petstore.HashSecret(secret))
	}
	if err != nil || !made {
		return err
	}
	text := fmt.Sprintf("Petstore serves at %s\n\n", address)
	if s.APIKey == "" {
		text += fmt.Sprintf("Your API key, shown only this once: %s\n\n", secret)
		text += fmt.Sprintf("Open the store in a browser with it; the link is as secret as the key:\n\n  %s/#key=%s\n\n", address, secret)
	}
	trusting := ""
	if s.TLSCert != "" {
		trusting = "--cacert " + s.TLSCert + " "
	}
	text += fmt.Sprintf("List the animals:\n\n  curl %s-H %s %s/v1/pets\n\n", trusting, shown, address)
	announce(s.con.Stdout, text, s.log.Logger)
	return nil
}

// announce prints the text of the first start. The server does not wait until somebody reads it.
func announce(out io.Writer, text string, log *slog.Logger) {
	read := terminal.WaitForReader(func() {
		if _, err := io.WriteString(out, text); err != nil {
			log.Warn("the address and the first key are lost because standard output cannot be written; petstore keys create makes another key", "cause", err.Error())
		}
	})
	if !read {
		log.Warn("nobody reads standard output; the address and the first key are printed there as soon as somebody does")
	}
}
