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
		result.Hot:       {list},
		result.Distinct:  {load.NewRequest(http.MethodGet, "/v1/pets?cursor={}&limit=20", apiKey, "", each(pageSize+1, rows, load.Cursor), http.StatusOK)},
		result.Get:       {load.NewRequest(http.MethodGet, "/v1/pets/{}", apiKey, "", random(rows, load.Decimal), http.StatusOK)},
		result.Create:    {create},
		result.Mix:       mix(list, create),
		result.Update:    updates(rows),
		result.Adoption:  {after(create, placed(load.Follow("id", onOrder("complete"), nil)))},
		result.Inventory: {load.NewRequest(http.MethodGet, "/v1/inventory", apiKey, "", nil, http.StatusOK)},
	}
}

// simpleLines are some of them to a service that takes a plain number for a cursor.
func simpleLines(rows int64) map[string][]load.Request {
	lines := only(petstoreLines(rows), result.Hot, result.Get, result.Create, result.Mix)
	lines[result.Distinct] = []load.Request{load.NewRequest(http.MethodGet, "/v1/pets?cursor={}&limit=20", apiKey, "", each(pageSize+1, rows, load.Decimal), http.StatusOK)}
	return lines
}

// updates put animals at random into one of many categories, so that few of them find nothing to change.
func updates(rows int64) (requests []load.Request) {
	for category := range 50 {
		body := fmt.Sprintf(`{"categoryId":%d}`, category+100)
		requests = append(requests, load.NewRequest(http.MethodPatch, "/v1/pets/{}", apiKey, body, random(rows, load.Decimal), http.StatusOK))
	}
	return requests
}

// placed follows the create of an animal with an order of it.
func placed(then *load.Request) *load.Request {
	place := load.NewRequest(http.MethodPost, "/v1/orders", apiKey, `{"petId":{}}`, &load.Numbers{Form: load.Spaced}, http.StatusCreated)
	return load.Follow("id", place, then)
}

// onOrder completes or cancels an order.
func onOrder(what string) load.Request {
	return load.NewRequest(http.MethodPost, "/v1/orders/{}/"+what, apiKey, "", &load.Numbers{}, http.StatusOK)
}

// mix is 95 lists for 5 creates.
func mix(list, create load.Request) []load.Request {
	return []load.Request{share(95, list), share(5, create)}
}

func share(n int, r load.Request) load.Request { r.Share = n; return r }

func after(r load.Request, then *load.Request) load.Request { r.Then = then; return r }

// each are all numbers once before any comes again.
func each(first, last int64, form load.Form) *load.Numbers {
	return &load.Numbers{First: first, Last: last, Each: true, Form: form}
}

func random(rows int64, form load.Form) *load.Numbers {
	return &load.Numbers{First: 1, Last: rows, Form: form}
}

// only picks some lines.
func only(lines map[string][]load.Request, ids ...string) map[string][]load.Request {
	picked := make(map[string][]load.Request)
	for _, id := range ids {
		picked[id] = lines[id]
	}
	return picked
}
