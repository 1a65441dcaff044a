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
// A refusal of the service is an [*Error] with its code, message, status and request id. Every code is an error to compare
// with:
//
//	if errors.Is(err, client.ErrPetReserved) { … }
//
// # Retries
//
// A call is tried again when the service asks for it (429 and 503, after Retry-After), when it fails (5xx) and when there
// was no answer, each time after a random wait that grows. Other refusals are final. Retries do nothing twice: a create
// carries an Idempotency-Key that all its tries share, and a DELETE that finds nothing after a try of unknown outcome has
// succeeded. [WithRetries] and [WithoutRetries] change how often and how long.
//
// The context bounds everything. A call that would have to wait longer than its deadline fails at once, with the last
// refusal and context.DeadlineExceeded both in its error.
//
// # Limits
//
// All goroutines of a [Client] share one gate, which knows from every answer how many requests the key has left. It lets no
// more of them go at once, and when the minute is used up it holds all of them until the next. So any number of goroutines
// may use one Client without being refused, let alone banned. [Client.Limits] tells what is left; [WithMeta] tells it of
// one call.
package client
