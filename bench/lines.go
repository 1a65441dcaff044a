package main

import (
	"fmt"
	"net/http"

	"petstore/bench/load"
	"petstore/bench/report"
)

const (
	rows     = int64(100_000) // the number of animals in each database, except where growth is measured
	pageSize = 20
	newPet   = `{"name":"Pet number 100001","categoryId":17,"status":"available"}`
)

// lines maps the id of each line to the requests of the line. A line is a kind of load; see report.Line.
type lines map[string][]load.Request

// petstoreLines returns the requests to a petstore that has rows animals.
func petstoreLines(rows int64) lines {
	all := simpleLines(rows)
	all[report.Distinct] = []load.Request{get("/v1/pets?cursor={cursor}&limit=20").Each(pageSize+1, rows)}
	all[report.CreateKeyed] = []load.Request{keyedCreate("create")}
	all[report.Update], all[report.UpdateKeyed] = updates(rows), keyedUpdates(rows)
	all[report.Adoption] = []load.Request{all[report.Create][0].Then("id", order.Then("id", closeOrder("complete")))}
	all[report.Inventory] = []load.Request{get("/v1/inventory")}
	return all
}

// simpleLines returns the requests to a service whose cursors are plain numbers.
func simpleLines(rows int64) lines {
	return newLines(get("/v1/pets"), get("/v1/pets?cursor={}&limit=20").Each(pageSize+1, rows), get("/v1/pets/{}").Random(rows),
		post("/v1/pets", newPet, http.StatusCreated))
}

// newLines returns the lines that every subject has. The mixed line has 95 lists to 5 creates.
func newLines(list, distinct, get, create load.Request) lines {
	return lines{
		report.Hot:      {list},
		report.Distinct: {distinct},
		report.Get:      {get},
		report.Create:   {create},
		report.Mix:      {list.Times(95), create.Times(5)},
	}
}

// updates returns requests that move random animals to one of many categories. With many categories, few requests change
// nothing.
func updates(rows int64) (requests []load.Request) {
	for category := range 50 {
		requests = append(requests, patch("/v1/pets/{}", "", category+100).Random(rows))
	}
	return requests
}

// keyedUpdates returns updates with an Idempotency-Key, each key for one animal and one category.
func keyedUpdates(rows int64) (requests []load.Request) {
	for category := range 50 {
		key := fmt.Sprintf("update-%d-{}", category)
		requests = append(requests, patch(fmt.Sprintf("/v1/pets/{mod%d}", rows), key, category+100).Each(1, manyKeys))
	}
	return requests
}

// manyKeys is the number of different keys of a request. Measurements take them from random places, so that no key is used
// twice.
const manyKeys = 1_000_000_007

// keyed returns the lines of a request that identify its sender, with an Idempotency-Key if key is not empty.
func keyed(key string) string {
	if key == "" {
		return apiKey
	}
	return apiKey + "\r\nIdempotency-Key: " + key
}

// keyedCreate returns creates with an Idempotency-Key that begins with keys.
func keyedCreate(keys string) load.Request {
	return load.NewRequest(http.MethodPost, "/v1/pets", keyed(keys+"-{}"), newPet, http.StatusCreated).Each(1, manyKeys)
}

func patch(path, key string, category int) load.Request {
	return load.NewRequest(http.MethodPatch, path, keyed(key), fmt.Sprintf(`{"categoryId":%d}`, category), http.StatusOK)
}

// order is a request that places an order for an animal. The id is padded, so that every body has the same length.
var order = post("/v1/orders", `{"petId":{%16d}}`, http.StatusCreated)

// closeOrder returns a request that completes or cancels an order.
func closeOrder(action string) load.Request { return post("/v1/orders/{}/"+action, "", http.StatusOK) }

func get(path string) load.Request {
	return load.NewRequest(http.MethodGet, path, apiKey, "", http.StatusOK)
}

func post(path, body string, status int) load.Request {
	return load.NewRequest(http.MethodPost, path, apiKey, body, status)
}
