// Package keys holds the commands for API keys. They work on a database, or on a server over its API.
package keys

import (
	"context"
	"time"

	"petstore/client"
	"petstore/internal/database"
	"petstore/internal/petstore"
	"petstore/internal/profile"
	"petstore/internal/terminal"
)

// Commands are the commands for API keys.
type Commands struct {
	Create createCommand `cmd:"" help:"Create a key. It is printed on standard output this once, and nothing else is."`
	List   listCommand   `cmd:"" aliases:"ls" help:"List the keys with their names, plans, limits and states. The keys themselves are not stored and cannot be shown."`
	Show   showCommand   `cmd:"" aliases:"view,get" help:"Show one key as the list does."`
	Usage  usageCommand  `cmd:"" help:"Show how many requests each owner made, or one owner in each hour, and how many were refused."`
	Update updateCommand `cmd:"" help:"Change the access, name and expiry of a key, and the plan and limits of all keys of its owner. Every server follows within 5 seconds."`
	Rotate rotateCommand `cmd:"" help:"Replace a key with a new one of the same owner, plan, limits and access. The new key is printed on standard output this once, and nothing else is."`
	Revoke revokeCommand `cmd:"" help:"Revoke a key for good. Every server follows within 5 seconds."`
	Unban  unbanCommand  `cmd:"" help:"Lift the ban of a key's owner. Every server follows within 5 seconds."`
}

// place are the flags that choose where the keys are. Without --server and --profile, they are in a database.
type place struct {
	database.Flags
	database.UnusedRedis
	Server  string `placeholder:"URL" help:"Work over the API of this server instead of on a database. $$PETSTORE_API_KEY must be an administrator's key, or else the profile named default must have one for this server."`
	Profile string `placeholder:"NAME" help:"Work over the API of the server in this profile of petstore login instead of on a database. The profile must have an administrator's key."`
}

// Interrupted says how to find out what an interrupted command has done.
func (place) Interrupted() string { return "petstore keys list shows what was done" }

// keyring is where the keys are. Its methods describe keys and usage as the API does.
type keyring interface {
	// list returns all keys, or only the usable ones, oldest first.
	list(ctx context.Context, active bool) ([]client.Key, error)
	get(ctx context.Context, id string) (client.Key, error)
	// create creates a key with the properties in the change and returns it with its secret.
	create(ctx context.Context, change petstore.KeyChange) (client.Key, error)
	update(ctx context.Context, id string, change petstore.KeyChange) (client.Key, error)
	// rotate replaces a key and returns the new one with its secret.
	rotate(ctx context.Context, id string, overlap time.Duration) (client.Key, error)
	revoke(ctx context.Context, id string) (client.Key, error)
	unban(ctx context.Context, id string) (client.Key, error)
	// usage returns the usage of the key's owner in the last hours, oldest first.
	usage(ctx context.Context, key client.Key, hours int) ([]client.Usage, error)
	// usageByOwner returns the usage of every owner that had requests in the last hours. The argument keys has all keys.
	usageByOwner(ctx context.Context, keys []client.Key, hours int) (map[string][]client.Usage, error)
}

// open calls the function work with the keys that the flags choose, and explains the error that work returns.
func (p *place) open(ctx context.Context, con *terminal.Console, why database.Purpose, work func(keyring) error) error {
	if !p.onServer() {
		return p.With(ctx, why, func(storage *database.Storage) error {
			return keyRefused(work(&databaseKeys{storage, p.Environment, newAudit(con)}))
		})
	}
	if p.Database != "" {
		return terminal.WrongUsage("--database cannot be combined with --server or --profile; give one of them")
	}
	return p.server().With(con, func(store *client.Client) error { return work(serverKeys{store}) })
}

func (p *place) onServer() bool { return p.Server != "" || p.Profile != "" }

func (p *place) server() *profile.Flags { return &profile.Flags{Server: p.Server, Profile: p.Profile} }
