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
// Every code is an error to compare with:
//
//	if errors.Is(err, client.ErrPetReserved) { … }
//
// # Retries
//
// The client tries a call again when the service asks for it (429 and 503, after Retry-After), when the service fails
// (5xx), and when there was no answer. Before each retry it waits for a random time that grows. Other refusals are final.
// A retry does nothing twice: all tries of a create share an Idempotency-Key, and a DELETE that finds nothing succeeds if
// the outcome of an earlier try is unknown. [WithRetries] and [WithoutRetries] change how often and how long the client
// tries.
//
// Besides that, net/http itself sends a read or a create again if a connection that was used before breaks; see
// [net/http.Transport]. This too does nothing twice, because a create carries its Idempotency-Key.
//
// The context bounds everything. A call whose deadline comes before the next window or try fails at once, with the last
// refusal and context.DeadlineExceeded both in its error.
//
// # Limits
//
// All goroutines of a [Client] share one gate. It learns from the answers how many requests the key has left, and lets no
// more than that go at once. When the minute is used up, it holds all requests until the next minute. So any number of
// goroutines may use one Client without being refused, let alone banned. [Client.Limits] says what is left; [WithMeta] says
// what was left after one call.
package client
