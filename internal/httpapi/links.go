package httpapi

import (
	"net/url"
	"strconv"

	"petstore/internal/petstore"
)

// links builds the URLs in answers.
type links struct {
	pets, categories, orders, events, webhooks, keys, photos string
	deprecated                                               string
}

func newLinks(base string) links {
	v1 := base + "/v1"
	return links{
		pets:       v1 + "/pets",
		categories: v1 + "/categories",
		orders:     v1 + "/orders",
		events:     v1 + "/events",
		webhooks:   v1 + "/webhooks",
		keys:       v1 + "/keys",
		photos:     base + "/photos/",
		deprecated: "<" + v1 + `/pets>; rel="successor-version", <` + base + `/docs#leaving-getPet>; rel="deprecation"; type="text/html"`,
	}
}

// itemURL returns the URL of one item of a collection.
func itemURL(collection string, id int64) string { return collection + "/" + strconv.FormatInt(id, 10) }

// nextPets returns the Link to the page after the one for q, whose last animal has the id last.
func (l links) nextPets(q petsQuery, last int64) string {
	b := appendNext(make([]byte, 0, 128), l.pets, petCursor, last, q.Limit)
	if q.Status != petstore.AnyStatus {
		b = append(b, "&status="...)
		b = append(b, q.Status.String()...)
	}
	if q.OfCategory {
		b = append(b, "&categoryId="...)
		b = strconv.AppendInt(b, q.Category, 10)
	}
	if q.Search != "" {
		b = append(b, "&q="...)
		b = append(b, url.QueryEscape(q.Search)...)
	}
	if q.withProfile {
		b = append(b, "&include=profile"...)
	}
	return string(append(b, endNext...))
}

func (l links) nextCategories(q petstore.CategoryQuery, last int64) string {
	b := appendNext(make([]byte, 0, 128), l.categories, categoryCursor, last+1, q.Limit)
	return string(append(b, endNext...))
}

func (l links) nextOrders(q petstore.OrderQuery, last int64) string {
	b := appendNext(make([]byte, 0, 128), l.orders, orderCursor, last, q.Limit)
	if q.PetID != nil {
		b = append(b, "&petId="...)
		b = strconv.AppendInt(b, *q.PetID, 10)
	}
	if q.Status != petstore.AnyOrderStatus {
		b = append(b, "&status="...)
		b = append(b, q.Status.String()...)
	}
	return string(append(b, endNext...))
}

func (l links) nextKeys(q keysQuery, last petstore.Key) string {
	next := "<" + l.keys + "?cursor=" + formatPlaceCursor(keyCursor, petstore.KeyPlace{CreatedAt: last.CreatedAt, ID: last.ID}) + "&limit=" + strconv.Itoa(q.Limit)
	if q.active {
		next += "&active=true"
	}
	return next + endNext
}

func (l links) nextWebhooks(q petstore.WebhookQuery, last petstore.Webhook) string {
	cursor := formatPlaceCursor(webhookCursor, petstore.KeyPlace{CreatedAt: last.CreatedAt, ID: last.ID})
	return "<" + l.webhooks + "?cursor=" + cursor + "&limit=" + strconv.Itoa(q.Limit) + endNext
}

func (l links) nextDeliveries(q petstore.DeliveryQuery, last string) string {
	return "<" + l.webhooks + "/" + q.WebhookID + "/deliveries?cursor=" + formatDeliveryCursor(last) + "&limit=" + strconv.Itoa(q.Limit) + endNext
}

const endNext = `>; rel="next"`

func appendNext(b []byte, collection string, list byte, id int64, limit int) []byte {
	b = append(b, '<')
	b = append(b, collection...)
	b = append(b, "?cursor="...)
	b = appendCursor(b, list, id)
	b = append(b, "&limit="...)
	return strconv.AppendInt(b, int64(limit), 10)
}
