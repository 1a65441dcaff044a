package main

import (
	"fmt"
	"net/http"

	"petstore/bench/load"
	"petstore/bench/result"
)

const (
	pageSize = 20
	newPet   = `{"name":"Pet number 100001","categoryId":17,"status":"available"}`
)

// petstoreLines are the requests of each line to a petstore with that many animals.
func petstoreLines(rows int64) map[string][]load.Request {
	list := load.NewRequest(http.MethodGet, "/v1/pets", apiKey, "", nil, http.StatusOK)
	create := load.NewRequest(http.MethodPost, "/v1/pets", apiKey, newPet, nil, http.StatusCreated)
	return map[string][]load.Request{
		result.Hot: {list},
		result.Distinct: {load.NewRequest(http.MethodGet, "/v1/pets?cursor={}&limit=20", apiKey, "",
			&load.Numbers{First: pageSize + 1, Last: rows, Each: true, Form: load.Cursor}, http.StatusOK)},
		result.Get: {load.NewRequest(http.MethodGet, "/v1/pets/{}", apiKey, "",
			&load.Numbers{First: 1, Last: rows, Form: load.Decimal}, http.StatusOK)},
		result.Create:    {create},
		result.Mix:       mix(list, create),
		result.Update:    updates(rows),
		result.Adoption:  {adoption(create)},
		result.Inventory: {load.NewRequest(http.MethodGet, "/v1/inventory", apiKey, "", nil, http.StatusOK)},
	}
}

// updates put animals at random into one of many categories, so that few of them find nothing to change.
func updates(rows int64) (requests []load.Request) {
	for category := range 50 {
		requests = append(requests, load.NewRequest(http.MethodPatch, "/v1/pets/{}", apiKey, fmt.Sprintf(`{"categoryId":%d}`, category+100),
			&load.Numbers{First: 1, Last: rows, Form: load.Decimal}, http.StatusOK))
	}
	return requests
}

// adoption is an animal that comes in, is ordered and goes.
func adoption(create load.Request) load.Request {
	create.Then = placed(load.Follow("id", onOrder("complete"), nil))
	return create
}

// placed follows the create of an animal with an order of it.
func placed(then *load.Request) *load.Request {
	place := load.NewRequest(http.MethodPost, "/v1/orders", apiKey, `{"petId":{}}`, &load.Numbers{Form: load.Spaced}, http.StatusCreated)
	return load.Follow("id", place, then)
}

// onOrder completes or cancels an order.
func onOrder(what string) load.Request {
	return load.NewRequest(http.MethodPost, "/v1/orders/{}/"+what, apiKey, "", &load.Numbers{Form: load.Decimal}, http.StatusOK)
}

// mix is 95 lists for 5 creates.
func mix(list, create load.Request) []load.Request {
	list.Share, create.Share = 95, 5
	return []load.Request{list, create}
}

// only picks some lines.
func only(lines map[string][]load.Request, ids ...string) map[string][]load.Request {
	picked := make(map[string][]load.Request)
	for _, id := range ids {
		picked[id] = lines[id]
	}
	return picked
}
