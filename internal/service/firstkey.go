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
	trustedByCurl, trustedByPetstore := "", ""
	if s.TLSCert != "" {
		trustedByCurl, trustedByPetstore = "--cacert "+s.TLSCert+" ", "SSL_CERT_FILE="+s.TLSCert+" "
	}
	text := fmt.Sprintf("Petstore serves at %s\n\n", address)
	if s.APIKey == "" {
		text += fmt.Sprintf(firstKeyText, secret, trustedByPetstore, address)
	}
	text += fmt.Sprintf("List the animals:\n\n  curl %s-H %s %s/v1/pets\n\n", trustedByCurl, header, address)
	announce(s.con.Stdout, text, s.log.Logger)
	return nil
}

// firstKeyText explains the first key. Its arguments are the key, the variable that makes the program trust the server's
// certificate, and the address.
const firstKeyText = `Your API key, shown only this once: %[1]s

It is an administrator's key: besides reading and writing, it can manage keys and webhooks. Keep it safe. Create a
separate key for each app and each person, so that you can revoke one without the others:

  %[2]sPETSTORE_API_KEY=%[1]s petstore keys create --name my-app --server %[3]s

Open the store in a browser. Keep this link as secret as the key, which it contains:

  %[3]s/#key=%[1]s

`

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
