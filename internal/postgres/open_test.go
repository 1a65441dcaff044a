package postgres

import (
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

func TestTenReplicasStartOnAnEmptyDatabaseAtOnce(t *testing.T) {
	database := testservice.Postgres(t)
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			db, err := Open(t.Context(), Config{URL: database, Environment: petstore.Production, Create: true, timeout: longTimeout})
			if err != nil {
				t.Error(err)
				return
			}
			defer db.Close()
			if _, _, err := db.CreatePet(t.Context(), rex, nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	pets, err := open(t, database).ListPets(t.Context(), petstore.PetQuery{Limit: 100})
	if err != nil || len(pets) != 10 {
		t.Errorf("%d animals, %v; want one from each replica", len(pets), err)
	}
}

func TestOpenRefuses(t *testing.T) {
	cases := []struct {
		name string
		sql  string // a script that runs before Open
		env  petstore.Environment
		want string
	}{
		{
			name: "the database of a newer petstore",
			sql:  "UPDATE settings SET value = '999' WHERE name = 'schema'",
			want: "DATABASE was written by a newer petstore (schema 999, this one knows KNOWN); upgrade petstore",
		}, {
			name: "the database of the other environment",
			env:  petstore.Staging,
			want: "DATABASE belongs to the production environment and this is staging; choose another --database or --environment",
		}, {
			name: "the database of another program that has settings too",
			sql:  "DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE TABLE settings (dark_mode boolean)",
			want: "DATABASE is the database of another program; choose another --database",
		}, {
			name: "the database of another program that has pets too",
			sql:  "DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE TABLE pets (bark text)",
			want: "DATABASE is the database of another program; choose another --database",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			database := testservice.Postgres(t)
			open(t, database).Close()
			execute(t, database, c.sql)
			if c.env == "" {
				c.env = petstore.Production
			}
			_, err := Open(t.Context(), Config{URL: database, Environment: c.env, Create: true, timeout: longTimeout})
			u, _ := url.Parse(database)
			name := "the PostgreSQL database " + strings.TrimPrefix(u.Path, "/") + " at " + u.Host
			if want := strings.NewReplacer("DATABASE", name, "KNOWN", strconv.Itoa(knownSchema(t))).Replace(c.want); err == nil || err.Error() != want {
				t.Errorf("got:  %v\nwant: %s", err, want)
			}
		})
	}
}

func TestADatabaseOutOfReachIsNamedWithoutItsPassword(t *testing.T) {
	for _, c := range []struct{ name, url, want string }{
		{
			"nothing listens there",
			"postgres://ann:s3cret@127.0.0.1:1/pets",
			"the PostgreSQL database pets at 127.0.0.1:1 cannot be reached: ",
		}, {
			"nothing listens at any of the hosts",
			"postgres://ann:s3cret@127.0.0.1:1,127.0.0.1:2/pets?sslmode=disable",
			"the PostgreSQL database pets at 127.0.0.1:1, 127.0.0.1:2 cannot be reached: ",
		}, {
			"the URL cannot be read",
			"postgres://ann:s3cret/x@127.0.0.1:1/pets",
			"the database URL cannot be read; ",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(t.Context(), Config{URL: c.url, Environment: petstore.Production, timeout: longTimeout})
			if err == nil {
				t.Fatal("it was opened")
			}
			text := err.Error()
			if !strings.HasPrefix(text, c.want) || strings.Contains(text, "s3cret") || strings.Contains(text, "\n") {
				t.Errorf("got %q, want one line that begins with %q", text, c.want)
			}
		})
	}
}

func TestTheReasonOfAServerThatRefusesAConnectionComesFirst(t *testing.T) {
	server := testservice.StartPostgres(t)
	db := open(t, server.URL)
	var rules string
	noError(t, db.pool.QueryRow(t.Context(), "SHOW hba_file").Scan(&rules))
	execute(t, server.URL, "CREATE ROLE ann LOGIN PASSWORD 'right'")
	execute(t, server.URL, "CREATE ROLE bob LOGIN")
	err := os.WriteFile(rules, []byte("host all ann all scram-sha-256\nhost all bob all reject\nhost all all all trust\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, server.URL, "SELECT pg_reload_conf()")
	u, _ := url.Parse(server.URL)
	for _, c := range []struct{ name, user, path, want string }{
		{"a wrong password", "ann:wrong", u.Path, "the PostgreSQL database NAME at HOST refuses the password of the user ann; correct it in --database"},
		{"a user that may not come in", "bob:wrong", u.Path, "the PostgreSQL database NAME at HOST does not let the user bob in; correct the user in --database, or the server's pg_hba.conf ("},
		{"a database that does not exist", u.User.String(), "/typo", "there is no database typo at HOST; create it, or correct its name in --database"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := strings.NewReplacer("NAME", u.Path[1:], "HOST", u.Host).Replace(c.want)
			address := "postgres://" + c.user + "@" + u.Host + c.path // without sslmode, so the driver tries TLS first
			for range 100 {                                           // the server may not have read the new access rules yet
				_, err := Open(t.Context(), Config{URL: address, Environment: petstore.Production, timeout: longTimeout})
				if err != nil && strings.HasPrefix(err.Error(), want) {
					return
				}
				if err != nil && strings.Contains(err.Error(), "wrong") {
					t.Fatalf("it shows the password: %v", err)
				}
				time.Sleep(50 * time.Millisecond)
				t.Log(err)
			}
			t.Errorf("want %s", want)
		})
	}
}

func TestPlaceIsTheSameHoweverTheURLNamesIt(t *testing.T) {
	database := testservice.Postgres(t)
	u, err := url.Parse(database)
	noError(t, err)
	execute(t, database, "CREATE SCHEMA second")
	host, name := u.Host, u.Path[1:]
	with := func(change func(*url.URL)) string {
		other := *u
		change(&other)
		return other.String()
	}
	t.Setenv("PGHOST", u.Hostname())
	t.Setenv("PGPORT", u.Port())
	t.Setenv("PGDATABASE", name)
	for _, c := range []struct{ what, url, want string }{
		{"the usual form", database, host + "/" + name},
		{"the query", with(func(u *url.URL) {
			u.Host, u.Path, u.RawQuery = "", "/", "host="+u.Hostname()+"&port="+u.Port()+"&dbname="+name
		}), host + "/" + name},
		{"environment variables", with(func(u *url.URL) { u.Host, u.Path = "", "" }), host + "/" + name},
		{"several hosts, and TLS if possible", with(func(u *url.URL) { u.Host, u.RawQuery = host+",127.0.0.1:1", "sslmode=prefer" }), host + ",127.0.0.1:1/" + name},
		{"another schema", with(func(u *url.URL) { u.RawQuery = "search_path=second" }), host + "/" + name + "?schema=second"},
	} {
		t.Run(c.what, func(t *testing.T) {
			if got, err := open(t, c.url).Place(t.Context()); err != nil || got != c.want {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}
