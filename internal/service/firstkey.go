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

// ensureKey makes sure that the key in --api-key exists. Without --api-key, it creates a key if the database has none. The
// first start on an empty database prints how to use the key.
func (s *service) ensureKey(ctx context.Context) error {
	address := localURL(s.listener, s.settings.tls != nil)
	keys, err := s.storage.Keys(ctx)
	if err != nil {
		return err
	}
	key := petstore.NewKey("first key", petstore.Enterprise, petstore.FirstKeyLimits, time.Now(), petstore.Forever)
	first, secret, header := len(keys) == 0, s.APIKey, `"Authorization: Bearer $PETSTORE_API_KEY"`
	if secret != "" {
		key.Name = "named by the operator"
		err = s.storage.EnsureKey(ctx, key, petstore.HashSecret(secret))
	} else if first {
		key.Access = petstore.Admin
		secret = petstore.NewSecret(s.Environment)
		header = "'Authorization: Bearer " + secret + "'"
		first, err = s.storage.CreateFirstKey(ctx, key, petstore.HashSecret(secret)) // false if another replica created the key
	}
	if err != nil || !first {
		return err
	}
	text := fmt.Sprintf("Petstore serves at %s\n\n", address)
	if s.APIKey == "" {
		text += fmt.Sprintf("Your API key, shown only this once: %s\n\n", secret)
		text += fmt.Sprintf("Open the store in a browser. Keep this link as secret as the key, which it contains:\n\n  %s/#key=%s\n\n", address, secret)
	}
	trust := ""
	if s.TLSCert != "" {
		trust = "--cacert " + s.TLSCert + " "
	}
	text += fmt.Sprintf("List the animals:\n\n  curl %s-H %s %s/v1/pets\n\n", trust, header, address)
	announce(s.con.Stdout, text, s.log.Logger)
	return nil
}

// announce prints the text of the first start. It waits only briefly for somebody to read the text.
func announce(out io.Writer, text string, log *slog.Logger) {
	read := terminal.WaitForReader(func() {
		if _, err := io.WriteString(out, text); err != nil {
			log.Warn("the address and the first key could not be printed on standard output; create another key with petstore keys create", "cause", err.Error())
		}
	})
	if !read {
		log.Warn("nobody reads standard output; the address and the first key will be printed there when somebody does")
	}
}
