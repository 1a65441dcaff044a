package main

import (
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
		result.Create: {create},
		result.Mix:    mix(list, create),
	}
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
