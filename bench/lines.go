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
	all := simpleLines(rows)
	all[report.Distinct] = []load.Request{get("/v1/pets?cursor={cursor}&limit=20").Each(pageSize+1, rows)}
	all[report.Update] = updates(rows)
	all[report.Adoption] = []load.Request{all[report.Create][0].Then("id", order.Then("id", onOrder("complete")))}
	all[report.Inventory] = []load.Request{get("/v1/inventory")}
	return all
}

// simpleLines are those to a service that takes a plain number for a cursor.
func simpleLines(rows int64) lines {
	return newLines(get("/v1/pets"), get("/v1/pets?cursor={}&limit=20").Each(pageSize+1, rows), get("/v1/pets/{}").Random(rows),
		post("/v1/pets", newPet, http.StatusCreated))
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
		requests = append(requests, load.NewRequest(http.MethodPatch, "/v1/pets/{}", apiKey, body, http.StatusOK).Random(rows))
	}
	return requests
}

// order is that of an animal, whose number it takes; the body is as long whatever that is.
var order = post("/v1/orders", `{"petId":{%16d}}`, http.StatusCreated)

// onOrder completes or cancels an order.
func onOrder(what string) load.Request { return post("/v1/orders/{}/"+what, "", http.StatusOK) }

func get(path string) load.Request {
	return load.NewRequest(http.MethodGet, path, apiKey, "", http.StatusOK)
}

func post(path, body string, status int) load.Request {
	return load.NewRequest(http.MethodPost, path, apiKey, body, status)
}
