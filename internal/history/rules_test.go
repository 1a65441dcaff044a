package history

// Each rule has a history that keeps it and one that breaks it. A line is an exchange: the seconds of its call and of
// its answer, the request, and after "=" the answer, or "lost". After "#" comes an Idempotency-Key.
var rules = []struct {
	rule         string
	kept, broken string
	want         Kind
}{
	{"What was acknowledged is seen from then on", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		4 5 GET pets/1 = 200 pet(1 Max available)`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		4 5 GET pets/1 = 200 pet(1 Rex available)`, Lost},
	{"A new animal is there at once", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 GET pets?limit=20 = 200 [pet(1 Rex available)]`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 GET pets?limit=20 = 200 []`, Lost},
	{"A write may be seen before its answer, but not undone again", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 9 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		3 5 GET pets/1 = 200 pet(1 Max available)
		4 6 GET pets/1 = 200 pet(1 Rex available)`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 9 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		3 4 GET pets/1 = 200 pet(1 Max available)
		5 6 GET pets/1 = 200 pet(1 Rex available)`, Stale},
	{"A write is not acknowledged before it is done", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 5 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		4 5 GET pets/1 = 200 pet(1 Rex available)
		6 7 GET pets/1 = 200 pet(1 Max available)`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		4 5 GET pets/1 = 200 pet(1 Rex available)
		6 7 GET pets/1 = 200 pet(1 Max available)`, Early},
	{"A patch keeps what it does not name", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 PATCH pets/1 {"status":"sold"} = 200 pet(1 Rex sold)
		4 5 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max sold)`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 PATCH pets/1 {"status":"sold"} = 200 pet(1 Rex sold)
		4 5 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		6 7 GET pets/1 = 200 pet(1 Max available)`, OutOfOrder},
	{"A request without an answer may have been done, or be done yet", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 PATCH pets/1 {"name":"Max"} = lost
		4 5 GET pets/1 = 200 pet(1 Rex available)
		6 7 GET pets/1 = 200 pet(1 Max available)`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 PATCH pets/1 {"name":"Max"} = lost
		4 5 GET pets/1 = 200 pet(1 Max available)
		6 7 GET pets/1 = 200 pet(1 Rex available)`, Stale},
	{"A request that could not be done has changed nothing", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 PATCH pets/1 {"name":"Max"} = 503 error(outcome_unknown It may have been done.)
		4 5 GET pets/1 = 200 pet(1 Max available)`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 PATCH pets/1 {"name":"Max"} = 503 error(unavailable Nothing was changed.)
		4 5 GET pets/1 = 200 pet(1 Max available)`, Stale},
	{"A create without an answer may have made an animal, one at most", `
		0 1 POST pets {"name":"Rex","categoryId":1} = lost
		2 3 GET pets = 200 [pet(1 Rex available)]`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = lost
		2 3 GET pets = 200 [pet(2 Rex available),pet(1 Rex available)]`, Doubled},
	{"What is there was asked for", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 GET pets = 200 [pet(1 Rex available)]`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 GET pets = 200 [pet(2 Max available),pet(1 Rex available)]`, Invented},
	{"An id is never used again", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 DELETE pets/1 = 204
		4 5 POST pets {"name":"Max","categoryId":1} = 201 pet(2 Max available)`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 DELETE pets/1 = 204
		4 5 POST pets {"name":"Max","categoryId":1} = 201 pet(1 Max available)`, IDUsedAgain},
	{"What is deleted stays so", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 4 DELETE pets/1 = 204
		3 5 GET pets/1 = 200 pet(1 Rex available)
		6 7 GET pets/1 = 404 error(not_found There is no animal with this id.)`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 4 DELETE pets/1 = 204
		6 7 GET pets/1 = 404 error(not_found There is no animal with this id.)
		8 9 GET pets/1 = 200 pet(1 Rex available)`, Stale},
	{"An Idempotency-Key is good for one thing", `
		0 1 POST pets #a {"name":"Rex","categoryId":1} = lost
		2 3 POST pets #a {"name":"Rex","categoryId":1} = 201 replayed pet(1 Rex available)
		4 5 POST pets #a {"name":"Rex","categoryId":1} = 201 replayed pet(1 Rex available)`, `
		0 1 POST pets #a {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		4 5 POST pets #a {"name":"Rex","categoryId":1} = 201 pet(2 Rex available)`, Doubled},
	{"A replay shows what was made, also when it is gone", `
		0 1 POST pets #a {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 DELETE pets/1 = 204
		4 5 POST pets #a {"name":"Rex","categoryId":1} = 201 replayed pet(1 Rex available)`, `
		0 1 POST orders #a {"petId":1} = 400 error(invalid_field petId must be the id of an animal; there is no animal 1.)
		2 3 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		4 5 POST orders #a {"petId":1} = 201 order(1 1 open)
		6 7 POST orders #a {"petId":1} = 409 error(pet_unavailable This animal is pending, not available. Order another one.)`, Replayed},
	{"A key that was used for another request is refused, and only then", `
		0 1 POST pets #a {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 POST pets #a {"name":"Max","categoryId":1} = 409 error(idempotency_conflict It was used.)`, `
		2 3 POST pets #a {"name":"Max","categoryId":1} = 409 error(idempotency_conflict It was used.)`, Replayed},
	{"One order at a time holds an animal", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 POST orders {"petId":1} = 201 order(1 1 open)
		4 6 POST orders/1/cancel = 200 order(1 1 cancelled)
		5 7 POST orders {"petId":1} = 201 order(2 1 open)`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 POST orders {"petId":1} = 201 order(1 1 open)
		4 5 POST orders {"petId":1} = 201 order(2 1 open)
		6 7 POST orders/1/cancel = 200 order(1 1 cancelled)`, TwoOpenOrders},
	{"An order and its animal change together", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 POST orders {"petId":1} = 201 order(1 1 open)
		4 5 POST orders/1/complete = 200 order(1 1 completed)
		6 7 GET pets/1 = 200 pet(1 Rex sold)`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 POST orders {"petId":1} = 201 order(1 1 open)
		4 5 POST orders/1/complete = 200 order(1 1 completed)
		6 7 GET orders/1 = 200 order(1 1 completed)
		8 9 GET pets/1 = 200 pet(1 Rex pending)`, Stale},
	{"An order whose hold is over has expired, and is not open any more", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 POST orders {"petId":1} = 201 order(1 1 open)
		64 65 GET orders/1 = 200 order(1 1 expired)
		66 67 POST orders {"petId":1} = 201 order(2 1 open)`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 POST orders {"petId":1} = 201 order(1 1 open)
		64 65 GET orders/1 = 200 order(1 1 open)`, Stale},
	{"An order that was shown as expired is not completed", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 POST orders {"petId":1} = 201 order(1 1 open)
		60 64 POST orders/1/complete = 200 order(1 1 completed)
		61 63 GET orders/1 = 200 order(1 1 completed)`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 POST orders {"petId":1} = 201 order(1 1 open)
		60 64 POST orders/1/complete = 200 order(1 1 completed)
		61 63 GET orders/1 = 200 order(1 1 expired)`, Lost},
	{"An inventory may be the first to show that a hold is over, but not before its time", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 POST orders {"petId":1,"holdSeconds":60} = 201 order(1 1 open)
		64 65 GET inventory = 200 {"available":1,"pending":0,"sold":0}`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 POST orders {"petId":1,"holdSeconds":60} = 201 order(1 1 open)
		50 51 GET inventory = 200 {"available":1,"pending":0,"sold":0}`, OutOfOrder},
	{"A link may be the first to show that a hold is over, but not before its time", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 POST pets {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		4 5 POST orders {"petId":1,"holdSeconds":60} = 201 order(1 1 open)
		66 67 GET pets?limit=1&status=available = 200 more [pet(2 Max available)]`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 POST pets {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		4 5 POST orders {"petId":1,"holdSeconds":60} = 201 order(1 1 open)
		50 51 GET pets?limit=1&status=available = 200 more [pet(2 Max available)]`, OutOfOrder},
	{"An order does not expire before its time", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 POST orders {"petId":1} = 201 order(1 1 open)
		30 31 PATCH pets/1 {"status":"sold"} = 409 error(pet_reserved Order 1 holds this animal until then.)`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 POST orders {"petId":1} = 201 order(1 1 open)
		30 31 PATCH pets/1 {"status":"sold"} = 200 pet(1 Rex sold)
		32 33 GET orders/1 = 200 order(1 1 open)`, OutOfOrder},
	{"A closed order changes no more", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 POST orders {"petId":1} = 201 order(1 1 open)
		4 5 POST orders/1/cancel = 200 order(1 1 cancelled)
		6 7 POST orders/1/complete = 409 error(order_closed This order was cancelled at noon and cannot change any more.)`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 POST orders {"petId":1} = 201 order(1 1 open)
		4 5 POST orders/1/cancel = 200 order(1 1 cancelled)
		6 7 POST orders/1/complete = 200 order(1 1 completed)
		8 9 GET orders/1 = 200 order(1 1 cancelled)`, Lost},
	{"A list is a look at all animals at one moment", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		0 1 POST pets {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		2 9 GET pets = 200 [pet(2 Max sold),pet(1 Rex sold)]
		3 4 PATCH pets/1 {"status":"sold"} = 200 pet(1 Rex sold)
		5 6 PATCH pets/2 {"status":"sold"} = 200 pet(2 Max sold)`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		0 1 POST pets {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		2 9 GET pets = 200 [pet(2 Max sold),pet(1 Rex available)]
		3 4 PATCH pets/1 {"status":"sold"} = 200 pet(1 Rex sold)
		5 6 PATCH pets/2 {"status":"sold"} = 200 pet(2 Max sold)`, OutOfOrder},
	{"Two lists see changes in the same order", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		0 1 POST pets {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		2 9 PATCH pets/1 {"status":"sold"} = 200 pet(1 Rex sold)
		2 9 PATCH pets/2 {"status":"sold"} = 200 pet(2 Max sold)
		3 8 GET pets = 200 [pet(2 Max available),pet(1 Rex sold)]
		3 8 GET pets = 200 [pet(2 Max sold),pet(1 Rex sold)]`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		0 1 POST pets {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		2 9 PATCH pets/1 {"status":"sold"} = 200 pet(1 Rex sold)
		2 9 PATCH pets/2 {"status":"sold"} = 200 pet(2 Max sold)
		3 8 GET pets = 200 [pet(2 Max available),pet(1 Rex sold)]
		3 8 GET pets = 200 [pet(2 Max sold),pet(1 Rex available)]`, OutOfOrder},
	{"A list of a status leaves out nobody who has it", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 PATCH pets/1 {"status":"sold"} = 200 pet(1 Rex sold)
		4 5 GET pets?status=available = 200 []
		6 7 GET pets?status=sold = 200 [pet(1 Rex sold)]`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 PATCH pets/1 {"status":"sold"} = 200 pet(1 Rex sold)
		4 5 GET pets?status=sold = 200 []
		6 7 GET pets?status=sold = 200 [pet(1 Rex sold)]`, Stale},
	{"A page ends with its last row, and another one follows only if there is more", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		0 1 POST pets {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		2 3 GET pets?limit=1 = 200 more [pet(2 Max available)]`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 GET pets?limit=1 = 200 more [pet(1 Rex available)]`, OutOfOrder},
	{"An inventory may count an animal that nobody saw, if somebody asked for it before", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 POST pets {"name":"Max","categoryId":1} = lost
		4 5 GET inventory = 200 {"available":2,"pending":0,"sold":0}`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		4 5 GET inventory = 200 {"available":2,"pending":0,"sold":0}
		6 7 POST pets {"name":"Max","categoryId":1} = lost`, OutOfOrder},
	{"An inventory is exact at one moment", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 4 PATCH pets/1 {"status":"sold"} = 200 pet(1 Rex sold)
		3 5 GET inventory = 200 {"available":1,"pending":0,"sold":0}
		6 7 GET inventory = 200 {"available":0,"pending":0,"sold":1}`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 4 PATCH pets/1 {"status":"sold"} = 200 pet(1 Rex sold)
		3 5 GET inventory = 200 {"available":1,"pending":0,"sold":1}`, OutOfOrder},
	{"Orders are listed by the state they are in", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 POST orders {"petId":1} = 201 order(1 1 open)
		4 5 GET orders?status=open = 200 [order(1 1 open)]
		6 7 POST orders/1/cancel = 200 order(1 1 cancelled)
		8 9 GET orders?status=open = 200 []`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 POST orders {"petId":1} = 201 order(1 1 open)
		4 5 GET orders?status=open = 200 []
		6 7 POST orders/1/cancel = 200 order(1 1 cancelled)`, Early},
	{"An order never changes its animal", `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 POST orders {"petId":1} = 201 order(1 1 open)
		4 5 GET orders/1 = 200 order(1 1 open)`, `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		2 3 POST orders {"petId":1} = 201 order(1 1 open)
		4 5 GET orders/1 = 200 order(1 7 open)`, Contradiction},
	{"No two categories have one name", `
		0 1 PUT categories/1 {"name":"Dogs"} = 201 {"id":1,"name":"Dogs"}
		2 3 PUT categories/2 {"name":"Dogs"} = 409 error(name_taken Category 1 already has this name.)
		4 5 DELETE categories/1 = 204
		6 7 PUT categories/2 {"name":"Dogs"} = 201 {"id":2,"name":"Dogs"}`, `
		0 1 PUT categories/1 {"name":"Dogs"} = 201 {"id":1,"name":"Dogs"}
		2 3 PUT categories/2 {"name":"Dogs"} = 201 {"id":2,"name":"Dogs"}`, OutOfOrder},
	{"The counter of categories never goes back", `
		0 1 POST categories {"name":"Dogs"} = 201 {"id":1,"name":"Dogs"}
		2 3 DELETE categories/1 = 204
		4 5 POST categories {"name":"Cats"} = 201 {"id":2,"name":"Cats"}
		6 7 GET categories = 200 [{"id":2,"name":"Cats"}]`, `
		0 1 POST categories {"name":"Dogs"} = 201 {"id":1,"name":"Dogs"}
		2 3 DELETE categories/1 = 204
		4 5 POST categories {"name":"Cats"} = 201 {"id":1,"name":"Cats"}`, OutOfOrder},
}
