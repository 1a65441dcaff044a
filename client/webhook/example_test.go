package webhook_test

import (
	"fmt"
	"net/http"
	"os"

	"petstore/client/webhook"
)

func Example() {
	http.HandleFunc("/hook", func(w http.ResponseWriter, r *http.Request) {
		event, err := webhook.Read(r, os.Getenv("WEBHOOK_SECRET"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		fmt.Printf("%s: %s\n", r.Header.Get(webhook.IDHeader), event)
	})
}
