package hostile

// attacks is what the server is put through. To add one, write its function and a line here.
var attacks = []attack{
	{name: "headers, a byte at a time", run: slowHeaders},
	{name: "requests framed in two ways", run: smuggledRequests},
	{name: "HTTP/2 streams whose answers have no room", run: streamsWithoutRoom, tls: true},
}
