// Package client calls the Petstore service. It needs nothing but the standard library.
//
//	store, err := client.New("https://api.example.com", os.Getenv("PETSTORE_API_KEY"))
//	biscuit, err := store.CreatePet(ctx, client.NewPet{Name: "Biscuit", CategoryID: 1})
//	for pet, err := range store.Pets(ctx, client.PetQuery{Status: client.Available}) {
//		fmt.Println(pet.Name, err)
//	}
//
// # Errors
//
// If the service refuses a call, the call returns an [*Error] with the code, the message, the status and the request id.
// Compare an error with a code by errors.Is:
//
//	if errors.Is(err, client.ErrPetReserved) { … }
//
// # Retries
//
// The client retries a call in three cases: when the service asks for a retry (429 and 503, after Retry-After), when the
// service fails (5xx), and when there was no answer. Before each retry, the client waits for a random time, which grows with
// each try. Other refusals are final. A retry never makes a change a second time. All tries of a write share an
// Idempotency-Key: if an earlier try made the change, a later try gets the same answer and changes nothing, whatever other
// clients have changed since. [WithRetries] and [WithoutRetries] change how often and how long the client tries.
//
// In addition, net/http itself sends a request again if a reused connection breaks; see [net/http.Transport]. The service
// makes the change only once in this case too.
//
// The context of a call bounds all its tries and waits. If the deadline of the context comes before the next window or the
// next try, the call fails immediately. Its error then wraps both the last refusal and context.DeadlineExceeded.
//
// # Events
//
// [Client.Events] reads the feed of all changes. [Client.Follow] reads it as it grows, and survives breaks of the connection and
// restarts of the service:
//
//	for event, err := range store.Follow(ctx, client.FollowOptions{After: lastID, Types: []client.EventType{"order.*"}}) { … }
//
// To copy the store and keep the copy up to date: take the Next of ListEvents(ctx, EventQuery{After: Now}), read everything, and
// follow the feed after that place. A service can also deliver events itself: see [Client.CreateWebhook], and the package
// petstore/client/webhook for receivers.
//
// # Limits
//
// All goroutines of a [Client] share one gate. The gate learns from the answers how many requests the key has left, and
// admits no more than that. When the key has no requests left in this minute, the gate holds all requests until the next
// minute. Any number of goroutines can therefore use one Client without being refused, let alone banned. [Client.Limits]
// says how many requests are left; [WithMeta] says how many were left after one call.
package client
