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
// The client retries a call when the service asks for it (429 and 503, after Retry-After), when the service fails (5xx),
// and when there was no answer. Before each retry it waits for a random time, which grows with each try. Other refusals
// are final. A retry does nothing twice and undoes nothing: all tries of a write share an Idempotency-Key, so a try that
// comes after the first was done gets its answer and changes nothing, whatever others have changed since. [WithRetries] and
// [WithoutRetries] change how often and how long the client tries.
//
// In addition, net/http itself repeats a request if a connection that was used before breaks; see [net/http.Transport]. This
// does nothing twice either.
//
// The context of a call bounds all its tries and waits. A call whose deadline comes before the next window or try fails at
// once, with both the last refusal and context.DeadlineExceeded in its error.
//
// # Limits
//
// All goroutines of a [Client] share one gate. It learns from the answers how many requests the key has left, and admits
// no more than that. When the minute is used up, it holds all requests until the next minute. Any number of goroutines can
// therefore use one Client without being refused, let alone banned. [Client.Limits] says what is left; [WithMeta] says what
// was left after one call.
package client
