package hostile

// attacks lists all attacks on the server. To add an attack, write its function and add a line here.
var attacks = []attack{
	{name: "headers that never end", run: slowHeaders},
	{name: "bodies that never end", run: slowBodies},
	{name: "refused bodies that never end", run: slowRefusedBodies},
	{name: "long answers that nobody reads", run: unreadAnswers},
	{name: "long answers read byte by byte", run: slowReaders},
	{name: "idle connections", run: idleConnections},
	{name: "idle connections, few files", run: idleConnections, files: 128},
	{name: "refused bodies that never end, few files", run: slowRefusedBodies, files: 128},
	{name: "half-closed connections", run: halfClosedConnections},
	{name: "broken connections", run: brokenConnections},
	{name: "idle TLS connections", run: idleSecureConnections, tls: true},

	{name: "requests that end in two places", run: smuggledRequests},
	{name: "pipelined requests", run: pipelined},
	{name: "many headers", run: manyHeaders},
	{name: "huge headers", run: hugeHeaders},
	{name: "huge queries", run: hugeQueries},
	{name: "floods of chunks", run: chunkFloods},
	{name: "what is not HTTP", run: garbage},
	{name: "what is not TLS", run: secureGarbage, tls: true},
	{name: "JSON bombs", run: bodyBombs},
	{name: "photo bombs", run: photoBombs},

	{name: "HTTP/2 answers without room", run: streamsWithoutRoom, tls: true, overloads: true},
	{name: "HTTP/2 answers read byte by byte", run: streamsWithLittleRoom, tls: true, overloads: true},
	{name: "HTTP/2 connections that nobody reads", run: unreadStreams, tls: true, overloads: true},
	{name: "HTTP/2 bodies that never end", run: slowStreams, tls: true},
	{name: "HTTP/2 resets", run: rapidResets, tls: true, overloads: true},
	{name: "HTTP/2 resets that the server makes", run: serverResets, tls: true},
	{name: "HTTP/2 headers that never end", run: continuationFlood, tls: true},
	{name: "HTTP/2 header bombs", run: headerBombs, tls: true},
	{name: "HTTP/2 control frames", run: controlFloods, tls: true},
	{name: "HTTP/2 frames that are wrong", run: wrongFrames, tls: true},
}
