package history

// feedRules are rules of the feed, written like the other rules. A page of events is "at" the sequence to which it leads, or
// "end" with that sequence. The word rex stands for the event of the animal 1.
var feedRules = []struct{ rule, history string }{
	{"The feed has an event of every change", `
		  2 3 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		+ 4 5 GET events = 200 end2 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex"})]
		- 4 5 GET events = 200 end1 [rex]`},
	{"The feed has an event of every animal that was deleted", `
		  2 3 DELETE pets/1 = 204
		+ 4 5 GET events = 200 end2 [rex,event(2 pet.deleted pet(1 Rex available))]
		- 4 5 GET events = 200 end1 [rex]`},
	{"The feed has an event of every change that a replay acknowledged", `
		  2 3 POST pets #a {"name":"Max","categoryId":1} = lost
		  4 5 POST pets #a {"name":"Max","categoryId":1} = 201 replayed pet(2 Max available)
		+ 6 7 GET events = 200 end2 [rex,event(2 pet.created pet(2 Max available))]
		- 6 7 GET events = 200 end1 [rex]`},
	{"The feed has no event twice", `
		  2 3 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		+ 4 5 GET events = 200 end2 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex"})]
		- 4 5 GET events = 200 end3 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex"}),event(3 pet.updated pet(1 Max available) was {"name":"Rex"})]`},
	{"A create without an answer has one event at most", `
		  2 3 POST pets {"name":"Max","categoryId":1} = lost
		+ 4 5 GET events = 200 end2 [rex,event(2 pet.created pet(2 Max available))]
		- 4 5 GET events = 200 end3 [rex,event(2 pet.created pet(2 Max available)),event(3 pet.created pet(3 Max available))]`},
	{"A request that could not be done has no event", `
		+ 2 3 PATCH pets/1 {"name":"Max"} = 503 error(outcome_unknown It may have been done.)
		- 2 3 PATCH pets/1 {"name":"Max"} = 503 error(unavailable Nothing was changed.)
		  4 5 GET events = 200 end2 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex"})]`},
	{"A replay has no event", `
		  2 3 PATCH pets/1 #a {"name":"Max"} = 200 pet(1 Max available)
		  4 5 PATCH pets/1 {"name":"Leo"} = 200 pet(1 Leo available)
		  6 7 PATCH pets/1 #a {"name":"Max"} = 200 replayed pet(1 Max available)
		+ 8 9 GET events = 200 end3 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex"}),event(3 pet.updated pet(1 Leo available) was {"name":"Max"})]
		- 8 9 GET events = 200 end4 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex"}),event(3 pet.updated pet(1 Leo available) was {"name":"Max"}),event(4 pet.updated pet(1 Max available) was {"name":"Leo"})]`},
	{"A change of nothing has no event", `
		  2 3 PUT categories/1 {"name":"Dogs"} = 201 {"id":1,"name":"Dogs"}
		  4 5 PUT categories/1 {"name":"Dogs"} = 200 {"id":1,"name":"Dogs"}
		+ 6 7 GET events = 200 end2 [rex,event(2 category.created {"id":1,"name":"Dogs"})]
		- 6 7 GET events = 200 end3 [rex,event(2 category.created {"id":1,"name":"Dogs"}),event(3 category.updated {"id":1,"name":"Dogs"})]`},
	{"An event shows what was acknowledged", `
		  2 3 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		+ 4 5 GET events = 200 end2 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex"})]
		- 2 3 PATCH pets/1 {"name":"Leo"} = lost
		- 4 5 GET events = 200 end2 [rex,event(2 pet.updated pet(1 Leo available) was {"name":"Rex"})]`},
	{"An event has the old values", `
		  2 3 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		+ 4 5 GET events = 200 end2 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex"})]
		- 4 5 GET events = 200 end2 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Leo"})]`},
	{"An event has the old values of what changed and no others", `
		  2 3 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		+ 4 5 GET events = 200 end2 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex"})]
		- 4 5 GET events = 200 end2 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex","categoryId":1})]`},
	{"The event of a deleted animal has its last state", `
		  2 3 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		  4 5 DELETE pets/1 = 204
		+ 6 7 GET events = 200 end3 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex"}),event(3 pet.deleted pet(1 Max available))]
		- 6 7 GET events = 200 end3 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex"}),event(3 pet.deleted pet(1 Rex available))]`},
	{"What was acknowledged before another write began comes first", `
		  2 3 POST pets {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		+ 2 4 POST pets {"name":"Leo","categoryId":1} = 201 pet(3 Leo available)
		- 4 5 POST pets {"name":"Leo","categoryId":1} = 201 pet(3 Leo available)
		  6 7 GET events = 200 end3 [rex,event(2 pet.created pet(3 Leo available)),event(3 pet.created pet(2 Max available))]`},
	{"What a replay acknowledged before another write began comes first", `
		  2 3 POST pets #a {"name":"Max","categoryId":1} = lost
		+ 4 7 POST pets #a {"name":"Max","categoryId":1} = 201 replayed pet(2 Max available)
		- 4 5 POST pets #a {"name":"Max","categoryId":1} = 201 replayed pet(2 Max available)
		  6 7 POST pets {"name":"Leo","categoryId":1} = 201 pet(3 Leo available)
		  8 9 GET events = 200 end3 [rex,event(2 pet.created pet(3 Leo available)),event(3 pet.created pet(2 Max available))]`},
	{"A page at the end has everything that was acknowledged before it", `
		+ 2 5 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		- 2 3 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		  4 5 GET events = 200 end1 [rex]
		  6 7 GET events?after=evt_f_1 = 200 end2 [event(2 pet.updated pet(1 Max available) was {"name":"Rex"})]`},
	{"The end of the feed is behind everything that was acknowledged before", `
		  2 3 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		+ 4 5 GET events?after=now = 200 end2 []
		- 4 5 GET events?after=now = 200 end1 []
		  6 7 GET events = 200 end2 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex"})]`},
	{"No page has an event before its write is called", `
		+ 2 5 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		- 6 7 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		  3 4 GET events = 200 end2 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex"})]`},
	{"A page that is not at the end has events after it", `
		+ 2 3 GET events = 200 end1 [rex]
		- 2 3 GET events = 200 at1 [rex]`},
	{"A page shows every event up to where it leads", `
		  2 3 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		+ 4 5 GET events?limit=1 = 200 at1 [rex]
		- 4 5 GET events?limit=1 = 200 end2 [rex]
		  6 7 GET events = 200 end2 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex"})]`},
	{"A page has no more events than were asked for", `
		  2 3 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		+ 4 5 GET events?limit=2 = 200 end2 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex"})]
		- 4 5 GET events?limit=1 = 200 end2 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex"})]`},
	{"A page of a type has all events of the type", `
		  2 3 GET events = 200 end1 [rex]
		+ 4 5 GET events?types=order.*,pet.created = 200 end1 [rex]
		- 4 5 GET events?types=order.*,pet.created = 200 end1 []`},
	{"A page of a type has no other events", `
		  2 3 GET events = 200 end1 [rex]
		+ 4 5 GET events?types=order.*,pet.deleted = 200 end1 []
		- 4 5 GET events?types=order.*,pet.deleted = 200 end1 [rex]`},
	{"A page of an animal has all its events and no others", `
		  2 3 GET events = 200 end1 [rex]
		+ 4 5 GET events?petId=1 = 200 end1 [rex]
		+ 6 7 GET events?petId=2 = 200 end1 []
		- 4 5 GET events?petId=1 = 200 end1 []`},
	{"An event is the same on every page", `
		  2 3 GET events = 200 end1 [rex]
		+ 4 5 GET events = 200 end1 [rex]
		- 4 5 GET events = 200 end1 [event(1 pet.created pet(1 Rex sold))]`},
	{"A sequence belongs to one event", `
		  2 3 POST pets {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		+ 4 5 GET events = 200 end2 [rex,event(2 pet.created pet(2 Max available))]
		- 4 5 GET events = 200 end2 [event(1 pet.created pet(2 Max available)),event(2 pet.created pet(1 Rex available))]
		  6 7 GET events?limit=1 = 200 at1 [rex]`},
	{"No sequence is left out", `
		  2 3 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		+ 4 5 GET events = 200 end2 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex"})]
		- 4 5 GET events = 200 end3 [rex,event(3 pet.updated pet(1 Max available) was {"name":"Rex"})]`},
	{"There is only one feed", `
		  2 3 GET events = 200 end1 [rex]
		+ 4 5 GET events?after=evt_f_1 = 200 end1 []
		- 4 5 GET events?after=evt_g_1 = 200 end1 []`},
	{"A position stays valid", `
		  2 3 GET events = 200 end1 [rex]
		+ 4 5 GET events?after=evt_f_1 = 200 end1 []
		- 4 5 GET events?after=evt_f_1 = 410 error(events_gone The oldest event is another one.)`},
	{"The event of an order comes with the event of its animal", `
		  2 3 POST orders {"petId":1} = 201 order(1 1 open)
		+ 4 5 GET events = 200 end3 [rex,event(2 order.placed order(1 1 open)),event(3 pet.updated pet(1 Rex pending) was {"status":"available"})]
		- 4 5 GET events = 200 end2 [rex,event(2 order.placed order(1 1 open))]`},
	{"An order changes only in what its write asks for", `
		  2 3 POST orders {"petId":1} = 201 order(1 1 open)
		+ 4 5 PATCH orders/1 {"holdSeconds":60} = lost
		- 4 5 PATCH orders/1 {"reference":"D"} = lost
		  4 5 PATCH orders/1 {"reference":"A"} = lost
		  6 7 PATCH orders/1 {"reference":"C"} = 200 {"id":1,"petId":1,"status":"open","reference":"C","createdAt":"12:00","expiresAt":"12:01"}
		  8 9 GET events = 200 end6 [rex,event(2 order.placed order(1 1 open)),event(3 pet.updated pet(1 Rex pending) was {"status":"available"}),event(4 order.updated {"id":1,"petId":1,"status":"open","reference":"A","createdAt":"12:00","expiresAt":"12:01"}),event(5 order.updated {"id":1,"petId":1,"status":"open","reference":"C","createdAt":"12:00","expiresAt":"12:01"} was {"reference":"A"}),event(6 order.updated {"id":1,"petId":1,"status":"open","reference":"C","createdAt":"12:00","expiresAt":"12:05"} was {"expiresAt":"12:01"})]`},
	{"An order expires without a write", `
		  2 3 POST orders {"petId":1,"holdSeconds":60} = 201 order(1 1 open)
		  4 5 GET events = 200 end3 [rex,event(2 order.placed order(1 1 open)),event(3 pet.updated pet(1 Rex pending) was {"status":"available"})]
		+ 70 71 GET events?after=evt_f_3 = 200 end5 [event(4 order.expired order(1 1 expired) was {"status":"open"}),event(5 pet.updated pet(1 Rex available) was {"status":"pending"})]
		- 70 71 GET events?after=evt_f_3 = 200 end5 [event(4 order.completed order(1 1 completed) was {"status":"open"}),event(5 pet.updated pet(1 Rex sold) was {"status":"pending"})]`},
	{"The feed and the answers end in the same state", `
		  2 9 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		  2 9 PATCH pets/1 {"name":"Leo"} = 200 pet(1 Leo available)
		  10 11 GET pets/1 = 200 pet(1 Leo available)
		+ 12 13 GET events = 200 end3 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex"}),event(3 pet.updated pet(1 Leo available) was {"name":"Max"})]
		- 12 13 GET events = 200 end3 [rex,event(2 pet.updated pet(1 Leo available) was {"name":"Rex"}),event(3 pet.updated pet(1 Max available) was {"name":"Leo"})]`},
	{"The feed and the lists end in the same state", `
		  2 9 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		  2 9 PATCH pets/1 {"name":"Leo"} = 200 pet(1 Leo available)
		  10 11 GET pets = 200 [pet(1 Leo available)]
		+ 12 13 GET events = 200 end3 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex"}),event(3 pet.updated pet(1 Leo available) was {"name":"Max"})]
		- 12 13 GET events = 200 end3 [rex,event(2 pet.updated pet(1 Leo available) was {"name":"Rex"}),event(3 pet.updated pet(1 Max available) was {"name":"Leo"})]`},
	{"What a list leaves out was deleted in the feed", `
		  2 3 DELETE pets/1 = lost
		  4 5 GET pets = 200 []
		+ 6 7 GET events = 200 end2 [rex,event(2 pet.deleted pet(1 Rex available))]
		- 6 7 GET events = 200 end1 [rex]`},
	{"What is not found was deleted in the feed", `
		  2 3 DELETE pets/1 = lost
		  4 5 GET pets/1 = 404 error(not_found There is no animal with this id.)
		+ 6 7 GET events = 200 end2 [rex,event(2 pet.deleted pet(1 Rex available))]
		- 6 7 GET events = 200 end1 [rex]`},
	{"An event that a client has seen is not undone", `
		  2 3 PATCH pets/1 {"name":"Max"} = lost
		  4 5 GET events = 200 end2 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex"})]
		+ 6 7 GET pets/1 = 200 pet(1 Max available)
		- 6 7 GET pets/1 = 200 pet(1 Rex available)
		  8 9 GET events = 200 end2 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex"})]`},
	{"A page at the end has what an earlier page had", `
		  2 3 PATCH pets/1 {"name":"Max"} = lost
		  4 5 GET events = 200 end2 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex"})]
		+ 6 7 GET events?limit=1 = 200 at1 [rex]
		- 6 7 GET events = 200 end1 [rex]`},
	{"A page at the end has what an answer showed", `
		  2 3 PATCH pets/1 {"name":"Max"} = lost
		  4 5 GET pets/1 = 200 pet(1 Max available)
		+ 6 7 GET events?limit=1 = 200 at1 [rex]
		- 6 7 GET events = 200 end1 [rex]
		  8 9 GET events = 200 end2 [rex,event(2 pet.updated pet(1 Max available) was {"name":"Rex"})]`},
	{"A reference that is removed is gone from the feed", `
		  2 3 POST orders {"petId":1,"reference":"Ann"} = 201 {"id":1,"petId":1,"status":"open","reference":"Ann","createdAt":"12:00","expiresAt":"12:01"}
		  4 5 GET events = 200 end3 [rex,event(2 order.placed {"id":1,"petId":1,"status":"open","reference":"Ann","createdAt":"12:00","expiresAt":"12:01"}),event(3 pet.updated pet(1 Rex pending) was {"status":"available"})]
		  6 7 PATCH orders/1 {"reference":null} = 200 order(1 1 open)
		+ 8 9 GET events = 200 end4 [rex,event(2 order.placed order(1 1 open)),event(3 pet.updated pet(1 Rex pending) was {"status":"available"}),event(4 order.updated order(1 1 open))]
		- 8 9 GET events = 200 end4 [rex,event(2 order.placed {"id":1,"petId":1,"status":"open","reference":"Ann","createdAt":"12:00","expiresAt":"12:01"}),event(3 pet.updated pet(1 Rex pending) was {"status":"available"}),event(4 order.updated order(1 1 open))]`},
	{"A reference that nobody removed stays in the feed", `
		+ 0 9 PATCH orders/1 {"reference":null} = 200 order(1 1 open)
		  2 3 POST orders {"petId":1,"reference":"Ann"} = 201 {"id":1,"petId":1,"status":"open","reference":"Ann","createdAt":"12:00","expiresAt":"12:01"}
		  4 5 GET events = 200 end3 [rex,event(2 order.placed {"id":1,"petId":1,"status":"open","reference":"Ann","createdAt":"12:00","expiresAt":"12:01"}),event(3 pet.updated pet(1 Rex pending) was {"status":"available"})]
		  6 7 GET events = 200 end3 [rex,event(2 order.placed order(1 1 open)),event(3 pet.updated pet(1 Rex pending) was {"status":"available"})]`},
}
