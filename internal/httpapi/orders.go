package httpapi

import (
	"net/http"

	"petstore/internal/petstore"
)

func (a *API) listOrders(x *exchange) error {
	q, err := parseQuery(x.r.URL.RawQuery, newOrderQuery(), orderParameters)
	if err != nil {
		return err
	}
	more := q
	more.Limit++
	orders, err := a.Storage.ListOrders(x.r.Context(), more)
	if err != nil {
		return err
	}
	return x.respondPage(pageOf(orders, q.Limit, x.orderEncoder(), func(last petstore.Order) string { return a.links.nextOrders(q, last.ID) }))
}

func (a *API) placeOrder(x *exchange) error {
	fresh := petstore.NewOrder{Hold: a.OrderHold}
	if err := newOrderBody.decode(x.body, &fresh); err != nil {
		return err
	}
	order, replayed, err := a.Storage.PlaceOrder(x.r.Context(), fresh, x.idempotency)
	if err != nil {
		return err
	}
	x.markReplayed(replayed)
	return x.respondCreated(itemURL(a.links.orders, order.ID), encoded(order, appendOrder))
}

func (a *API) getOrder(x *exchange) error {
	order, err := a.Storage.GetOrder(x.r.Context(), x.id)
	if err != nil {
		return err
	}
	return x.respond(http.StatusOK, encoded(order, x.orderEncoder()))
}

func (a *API) updateOrder(x *exchange) error {
	var patch petstore.OrderPatch
	if err := orderPatchBody.decode(x.body, &patch); err != nil {
		return err
	}
	order, replayed, err := a.Storage.UpdateOrder(x.r.Context(), x.id, patch, x.idempotency)
	if err != nil {
		return err
	}
	x.markReplayed(replayed)
	return x.respond(http.StatusOK, encoded(order, appendOrder))
}

func (a *API) completeOrder(x *exchange) error { return a.closeOrder(x, petstore.Completed) }

func (a *API) cancelOrder(x *exchange) error { return a.closeOrder(x, petstore.Cancelled) }

func (a *API) closeOrder(x *exchange, to petstore.OrderStatus) error {
	order, replayed, err := a.Storage.CloseOrder(x.r.Context(), x.id, to, x.idempotency)
	if err != nil {
		return err
	}
	x.markReplayed(replayed)
	return x.respond(http.StatusOK, encoded(order, appendOrder))
}

// orderEncoder returns how to show an order to the key of the request. A reference often names a person, so a key that may
// only read does not see it.
func (x *exchange) orderEncoder() func([]byte, petstore.Order) []byte {
	if x.seesPrivate() {
		return appendOrder
	}
	return func(b []byte, o petstore.Order) []byte {
		o.Reference = ""
		return appendOrder(b, o)
	}
}
