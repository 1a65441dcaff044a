package main

import (
	"fmt"
	"net/http"

	"petstore/bench/load"
	"petstore/bench/report"
)

const (
	rows     = int64(100_000) // that a store has unless growth is measured
	pageSize = 20
	newPet   = `{"name":"Pet number 100001","categoryId":17,"status":"available"}`
)

// lines are the requests of each line.
type lines map[string][]load.Request

// petstoreLines are those to a petstore with that many animals.
func petstoreLines(rows int64) lines {
	all := newLines(get("/v1/pets", nil), get("/v1/pets?cursor={}&limit=20", each(pageSize+1, rows, load.Cursor)), get("/v1/pets/{}", random(rows, load.Decimal)),
		post("/v1/pets", newPet, nil, http.StatusCreated))
	all[report.Update] = updates(rows)
	all[report.Adoption] = []load.Request{all[report.Create][0].Then("id", order.Then("id", onOrder("complete")))}
	all[report.Inventory] = []load.Request{get("/v1/inventory", nil)}
	return all
}

// simpleLines are those to a service that takes a plain number for a cursor.
func simpleLines() lines {
	shared := petstoreLines(rows)
	return newLines(shared[report.Hot][0], get("/v1/pets?cursor={}&limit=20", each(pageSize+1, rows, load.Decimal)), shared[report.Get][0], shared[report.Create][0])
}

// newLines are the lines that every store has; the mix is 95 lists for 5 creates.
func newLines(list, distinct, get, create load.Request) lines {
	return lines{
		report.Hot:      {list},
		report.Distinct: {distinct},
		report.Get:      {get},
		report.Create:   {create},
		report.Mix:      {list.Times(95), create.Times(5)},
	}
}

// updates put animals at random into one of many categories, so that few of them find nothing to change.
func updates(rows int64) (requests []load.Request) {
	for category := range 50 {
		body := fmt.Sprintf(`{"categoryId":%d}`, category+100)
		requests = append(requests, load.NewRequest(http.MethodPatch, "/v1/pets/{}", apiKey, body, random(rows, load.Decimal), http.StatusOK))
	}
	return requests
}

// order is that of an animal, whose number it takes.
var order = post("/v1/orders", `{"petId":{}}`, &load.Numbers{Form: load.Spaced}, http.StatusCreated)

// onOrder completes or cancels an order.
func onOrder(what string) load.Request {
	return post("/v1/orders/{}/"+what, "", &load.Numbers{}, http.StatusOK)
}

func get(path string, numbers *load.Numbers) load.Request {
	return load.NewRequest(http.MethodGet, path, apiKey, "", numbers, http.StatusOK)
}

func post(path, body string, numbers *load.Numbers, status int) load.Request {
	return load.NewRequest(http.MethodPost, path, apiKey, body, numbers, status)
}

// each are all numbers once before any comes again.
func each(first, last int64, form load.Form) *load.Numbers {
	return &load.Numbers{First: first, Last: last, Each: true, Form: form}
}

func random(rows int64, form load.Form) *load.Numbers {
	return &load.Numbers{First: 1, Last: rows, Form: form}
}
