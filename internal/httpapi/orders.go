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
	return x.respondPage(pageOf(orders, q.Limit, appendOrder, func(last petstore.Order) string { return a.links.nextOrders(q, last.ID) }))
}

func (a *API) placeOrder(x *exchange) error {
	idempotency, err := idempotencyOf(x)
	if err != nil {
		return err
	}
	fresh := petstore.NewOrder{Hold: a.OrderHold}
	if err := newOrderBody.decode(x.body, &fresh); err != nil {
		return err
	}
	order, replayed, err := a.Storage.PlaceOrder(x.r.Context(), fresh, idempotency)
	if err != nil {
		return err
	}
	return x.respondCreated(itemURL(a.links.orders, order.ID), encoded(order, appendOrder), replayed)
}

func (a *API) getOrder(x *exchange) error {
	order, err := a.Storage.GetOrder(x.r.Context(), x.id)
	if err != nil {
		return err
	}
	return x.respond(http.StatusOK, encoded(order, appendOrder))
}

func (a *API) completeOrder(x *exchange) error { return a.closeOrder(x, petstore.Completed) }

func (a *API) cancelOrder(x *exchange) error { return a.closeOrder(x, petstore.Cancelled) }

func (a *API) closeOrder(x *exchange, to petstore.OrderStatus) error {
	order, err := a.Storage.CloseOrder(x.r.Context(), x.id, to)
	if err != nil {
		return err
	}
	return x.respond(http.StatusOK, encoded(order, appendOrder))
}
