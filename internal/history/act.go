package history

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"petstore/internal/petstore"
)

// fields are the members of a JSON body.
type fields map[string]any

func (w *worker) createPet(ctx context.Context) {
	body := fields{"name": w.name("pet"), "categoryId": w.random.IntN(5)}
	if w.chance(30) {
		body["status"] = oneOf(w, petstore.Statuses...).String()
	}
	if made := w.make(ctx, "/v1/pets", body); made.Status == http.StatusCreated {
		w.known.see(made)
		if w.chance(50) {
			w.get(ctx, fmt.Sprintf("/v1/pets/%d", idOf(made)))
		}
	}
}

func (w *worker) getPet(ctx context.Context) {
	w.get(ctx, fmt.Sprintf("/v1/pets/%d", w.known.pet(w)))
}

func (w *worker) findPet(ctx context.Context) {
	path := fmt.Sprintf("/v1/pets?id=%d", w.known.pet(w))
	if w.chance(30) {
		path += "&status=" + oneOf(w, petstore.Statuses...).String()
	}
	w.get(ctx, path)
}

// listPets reads a first page, or the page after the last one that this worker read.
func (w *worker) listPets(ctx context.Context) {
	path := w.next
	if path == "" || w.chance(30) {
		path = fmt.Sprintf("/v1/pets?limit=%d", oneOf(w, 3, 20, 100))
		if w.chance(50) {
			path += "&status=" + oneOf(w, petstore.Statuses...).String()
		}
	}
	page := w.get(ctx, path)
	w.next = nextPage(page.Header)
	w.known.see(page)
}

func (w *worker) updatePet(ctx context.Context) {
	id := w.known.pet(w)
	body := fields{"name": w.name("pet")}
	if w.chance(60) {
		body["status"] = oneOf(w, "available", "available", "pending", "sold")
	}
	if w.chance(20) {
		body["categoryId"] = w.random.IntN(5)
	}
	// The request is not repeated, so that a name tells which request gave it.
	changed := w.send(ctx, http.MethodPatch, fmt.Sprintf("/v1/pets/%d", id), "", marshal(body))
	if !changed.answered() || w.chance(50) {
		w.get(ctx, fmt.Sprintf("/v1/pets/%d", id))
	}
}

// deletePet deletes one of the fresh animals. The animals that everybody wants stay.
func (w *worker) deletePet(ctx context.Context) {
	id, ok := w.known.fresh(w)
	if !ok {
		return
	}
	path := fmt.Sprintf("/v1/pets/%d", id)
	gone := w.change(ctx, http.MethodDelete, path)
	if gone.Status == http.StatusNoContent || gone.Status == http.StatusNotFound {
		w.known.forget(id)
	}
	if w.chance(50) {
		w.get(ctx, path)
	}
}

func (w *worker) getInventory(ctx context.Context) { w.get(ctx, "/v1/inventory") }

func (w *worker) placeOrder(ctx context.Context) {
	body := fields{"petId": w.known.pet(w), "reference": w.name("order")}
	if w.chance(70) {
		body["holdSeconds"] = oneOf(w, 60, 90, 3600)
	}
	if placed := w.make(ctx, "/v1/orders", body); placed.Status == http.StatusCreated {
		id := idOf(placed)
		w.known.order(id)
		if w.chance(40) {
			w.close(ctx, id)
		}
	}
}

func (w *worker) closeOrder(ctx context.Context) { w.close(ctx, w.known.anOrder(w)) }

func (w *worker) close(ctx context.Context, order int64) {
	w.change(ctx, http.MethodPost, fmt.Sprintf("/v1/orders/%d/%s", order, oneOf(w, "complete", "cancel")))
	if w.chance(30) {
		w.get(ctx, fmt.Sprintf("/v1/orders/%d", order))
	}
}

func (w *worker) getOrder(ctx context.Context) {
	w.get(ctx, fmt.Sprintf("/v1/orders/%d", w.known.anOrder(w)))
}

func (w *worker) listOrders(ctx context.Context) {
	path := fmt.Sprintf("/v1/orders?limit=%d", oneOf(w, 3, 20, 100))
	if w.chance(50) {
		path += fmt.Sprintf("&petId=%d", w.known.pet(w))
	}
	if w.chance(50) {
		path += "&status=" + oneOf(w, petstore.OrderStatuses...).String()
	}
	page := w.get(ctx, path)
	var orders []struct {
		ID     int64  `json:"id"`
		Status string `json:"status"`
	}
	json.Unmarshal(page.Answer, &orders)
	for _, order := range orders {
		if order.Status == "open" {
			w.known.order(order.ID)
		}
	}
}

// The numbers that workers choose are below those that the counter gives.
const numbered = -10

func (w *worker) createCategory(ctx context.Context) {
	if made := w.make(ctx, "/v1/categories", fields{"name": w.name("category")}); made.Status == http.StatusCreated {
		id := idOf(made)
		if gone := w.change(ctx, http.MethodDelete, fmt.Sprintf("/v1/categories/%d", id)); gone.Status == http.StatusNoContent {
			w.get(ctx, fmt.Sprintf("/v1/categories/%d", id))
		}
	}
}

func (w *worker) nameCategory(ctx context.Context) {
	name := w.name("category")
	if taken := w.known.category(); taken != "" && w.chance(20) {
		name = taken
	}
	if named := w.send(ctx, http.MethodPut, w.category(), "", marshal(fields{"name": name})); named.Status < 300 && named.answered() {
		w.known.nameCategory(name)
	}
}

func (w *worker) deleteCategory(ctx context.Context) { w.change(ctx, http.MethodDelete, w.category()) }

func (w *worker) getCategory(ctx context.Context) { w.get(ctx, w.category()) }

func (w *worker) category() string {
	return fmt.Sprintf("/v1/categories/%d", numbered+w.random.IntN(6))
}

func (w *worker) listCategories(ctx context.Context) {
	w.get(ctx, fmt.Sprintf("/v1/categories?limit=%d", oneOf(w, 2, 20, 100)))
}

// idOf reads the id of what was made.
func idOf(e Exchange) int64 {
	var made struct {
		ID int64 `json:"id"`
	}
	json.Unmarshal(e.Answer, &made)
	return made.ID
}
