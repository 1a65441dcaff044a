package httpapi

import (
	"net/http"
	"strconv"
)

// getStore answers with facts about the program and its storage.
func (a *API) getStore(x *exchange) error {
	storage, err := a.Storage.Describe(x.r.Context())
	if err != nil {
		return err
	}
	return x.respond(http.StatusOK, buildString(func(b []byte) []byte {
		b = appendString(append(b, `{"version":`...), a.Version)
		b = appendString(append(b, `,"environment":`...), string(a.Environment))
		b = appendString(append(b, `,"database":`...), storage.Database)
		b = strconv.AppendInt(append(b, `,"databaseBytes":`...), storage.DatabaseBytes, 10)
		b = strconv.AppendInt(append(b, `,"photoBytes":`...), storage.PhotoBytes, 10)
		b = strconv.AppendInt(append(b, `,"events":`...), storage.Events, 10)
		b = strconv.AppendInt(append(b, `,"schema":`...), storage.Schema, 10)
		return append(b, '}')
	}))
}
