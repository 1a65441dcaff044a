package model

import "slices"

// seed is a readable script. Each step has a name and up to seven bytes.
type seed struct {
	steps []happening
	raw   string
}

type happening struct {
	name  string
	bytes []byte
}

func (s seed) script() (script []byte) {
	for _, h := range s.steps {
		one := step{byte(slices.Index(names, h.name))}
		copy(one[1:], h.bytes)
		script = append(script, one[:]...)
	}
	return script
}

// seeds are scripts that a fuzzer would hardly find by itself. The bytes of a step are: the API key, the
// Idempotency-Key and the id with four bits each, three choices, the Content-Type, and the line of raw.
var seeds = []seed{
	{steps: []happening{
		{"createPet", nil}, {"createPet", []byte{2, 0x10, 1, 1, 3}}, {"createPet", []byte{2, 0x10, 1, 1, 3}}, {"createPet", []byte{0, 0x10, 2, 2, 2}},
		{"listPets", []byte{0, 0, 1}}, {"followLink", nil}, {"getInventory", []byte{1}}, {"getPet", []byte{0x81, 1}},
		{"updatePet", []byte{1}}, {"updatePet", []byte{0, 0, 1, 3, 2}}, {"deletePet", []byte{0, 1}}, {"getInventory", nil},
	}},
	{steps: []happening{
		{"createPet", nil}, {"placeOrder", []byte{0, 0x10, 0, 1, 1}}, {"placeOrder", nil}, {"deletePet", nil}, {"updatePet", []byte{0, 0, 0, 0, 3}},
		{"passTime", []byte{2}}, {"getOrder", nil}, {"getPet", nil}, {"listOrders", []byte{0, 0, 0, 7}}, {"completeOrder", nil},
		{"expireOrders", nil}, {"getInventory", nil}, {"placeOrder", []byte{0, 0x20}}, {"completeOrder", []byte{2, 1}}, {"cancelOrder", []byte{0, 1}},
		{"placeOrder", []byte{0, 0x10, 0, 1, 1}}, {"passTime", []byte{4}}, {"placeOrder", []byte{0, 0x10, 0, 1, 1}}, {"listOrders", []byte{0, 0, 1}}, {"followLink", []byte{0x80}},
	}},
	{steps: []happening{
		{"createPet", []byte{0, 0, 0, 5}}, {"createCategory", nil}, {"createCategory", nil}, {"nameCategory", []byte{0, 6, 1}}, {"nameCategory", []byte{0, 6, 2}},
		{"nameCategory", []byte{0, 1, 1}}, {"listCategories", []byte{0, 0, 1}}, {"followLink", nil}, {"listPets", []byte{0, 0, 0, 0, 0, 8}},
		{"deleteCategory", []byte{0, 6}}, {"getCategory", []byte{0, 6}}, {"createCategory", []byte{0, 0x10, 3}}, {"createPet", []byte{0, 0x10, 3}},
	}},
	{steps: []happening{ // every write, done, repeated after a later change, and with its key used for something else
		{"createPet", nil}, {"createPet", nil}, {"updatePet", []byte{0, 0x10, 1}}, {"updatePet", []byte{0, 0, 2}}, {"updatePet", []byte{0, 0x10, 1}}, {"updatePet", []byte{0, 0x11, 1}},
		{"placeOrder", []byte{0, 0, 0, 1, 1}}, {"passTime", nil}, {"updateOrder", []byte{0, 0x20, 0, 1, 3}}, {"updateOrder", []byte{0, 0, 0, 3}}, {"passTime", []byte{2}},
		{"updateOrder", []byte{0, 0x20, 0, 1, 3}}, {"getOrder", nil}, {"updateOrder", []byte{0, 0x20, 0, 1, 1}}, {"updateOrder", []byte{0, 0x10}}, {"updateOrder", []byte{0, 0x31}},
		{"completeOrder", []byte{0, 0x30}}, {"completeOrder", []byte{0, 0x30}}, {"cancelOrder", []byte{0, 0x30}}, {"updateOrder", []byte{0, 0, 0, 1, 1}}, {"updateOrder", []byte{0, 0, 0, 3}},
		{"deletePet", []byte{0, 0x51}}, {"deletePet", []byte{0, 0x51, 0, 0, 0, 0, 192}}, {"deletePet", []byte{2, 0x51}}, {"listPets", []byte{0, 0x60}}, {"deletePet", []byte{0, 0x60}},
		{"passTime", []byte{4}}, {"nameCategory", []byte{0, 0x10}}, {"deleteCategory", []byte{0, 0x20}}, {"nameCategory", []byte{0, 0x10}}, {"deleteCategory", []byte{0, 0x20}}, {"listCategories", nil},
		{"placeOrder", []byte{0, 0x30}}, {"updatePet", []byte{0, 0, 0, 0, 1}}, {"placeOrder", []byte{0, 0x30, 0, 1, 1}}, {"deletePet", []byte{0, 0x50}}, {"passTime", []byte{2}},
		{"completeOrder", []byte{0, 0x51}}, {"updateOrder", []byte{0, 0x51, 0, 1}}, {"completeOrder", []byte{0, 0x51}}, {"deletePet", nil}, {"getInventory", nil},
	}, raw: "x"},
	{steps: []happening{ // orders whose hold is over become expired when something comes upon them, and only then
		{"createPet", nil}, {"createPet", []byte{0, 0, 1}}, {"createPet", []byte{0, 0, 2, 3}}, {"placeOrder", []byte{0, 0, 0, 1, 1}}, {"placeOrder", []byte{0, 0, 1, 0, 1}},
		{"placeOrder", []byte{0, 0, 2, 1, 3}}, {"passTime", []byte{2}}, {"listOrders", []byte{0, 0, 0, 5}}, {"getPet", nil}, {"listOrders", []byte{0, 0, 1}}, {"listEvents", []byte{0, 0, 3}},
		{"getPet", []byte{0, 1}}, {"updatePet", []byte{0, 0, 1, 0, 3}}, {"updateOrder", []byte{0, 2, 0, 4}}, {"listEvents", []byte{0, 0, 3, 3}}, {"listEvents", []byte{1, 0, 0, 3}},
		{"updateOrder", []byte{0, 2, 0, 3, 3}}, {"listEvents", []byte{0, 0, 3, 3}}, {"placeOrder", []byte{0, 0, 1, 0, 1}}, {"placeOrder", []byte{0, 0x10, 1}}, {"passTime", []byte{3}}, {"expireOrders", nil},
		{"nameCategory", nil}, {"nameCategory", nil}, {"nameCategory", []byte{0, 0, 1}}, {"deleteCategory", nil}, {"deletePet", []byte{0, 1}}, {"listEvents", []byte{0, 0, 0, 2, 1, 6}},
		{"listEvents", []byte{1, 0, 7, 0, 2, 2}}, {"listEvents", []byte{0, 0, 6, 0, 0, 1}}, {"listEvents", []byte{0, 0, 4, 0, 0, 255}},
	}},
	{steps: []happening{
		{"createPet", []byte{1}}, {"changeAccess", []byte{0, 1}}, {"createPet", []byte{1}}, {"restart", nil}, {"getInventory", []byte{3}}, {"revokeKey", []byte{0, 2}},
		{"getInventory", []byte{2}}, {"passTime", []byte{3}}, {"getInventory", []byte{3}}, {"listPets", []byte{5}}, {"passTime", []byte{9}}, {"passTime", []byte{8}}, {"passTime", []byte{8}}, {"getPet", nil},
	}},
	{steps: []happening{
		{"createPet", []byte{0, 0, 0, 0, 0, 0, 192}}, {"createPet", []byte{0, 1, 0, 0, 0, 1, 193}}, {"updatePet", []byte{0, 0, 0, 0, 0, 3, 194}}, {"placeOrder", []byte{4, 0, 0, 0, 0, 0, 195}},
		{"createCategory", []byte{5, 0, 0, 0, 0, 0, 196}}, {"completeOrder", []byte{6, 0, 0, 0, 0, 5, 196}}, {"listPets", []byte{0, 0, 0, 0, 0, 0, 4}}, {"listOrders", []byte{0, 0, 4, 4, 1, 0, 3}},
		{"updatePet", []byte{0, 5, 0, 0, 0, 5}}, {"updatePet", []byte{0, 10, 0, 0, 0, 5}}, {"updatePet", []byte{0, 12, 0, 0, 0, 5}},
		{"getOrder", []byte{0, 13}}, {"completeOrder", []byte{0, 5, 0, 0, 0, 5}},
	}, raw: "{\"name\":\"Rex\",\"categoryId\":1}\n{\"name\":\"Rex\",\"name\":\"Ada\"}\n{\"status\":\"sold\",\"x\":[{}]}\n{\"petId\":1,\"holdSeconds\":60}\n{"},
}
