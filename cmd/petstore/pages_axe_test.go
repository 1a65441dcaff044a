package main

import (
	"testing"

	"petstore/internal/testservice"
)

// The test goes through every view of the store front, in the order in which a person meets them.
func TestNoViewHasAnAccessibilityFault(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, feature, value string
		check                func(*testservice.Page, string)
	}{
		{"light", "prefers-color-scheme", "light", (*testservice.Page).Accessible},
		{"dark", "prefers-color-scheme", "dark", (*testservice.Page).Legible},
		{"forced colors", "forced-colors", "active", (*testservice.Page).Legible},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, "--environment", "staging")
			page := testservice.Browser(t)
			page.Media("screen", c.feature, c.value, "prefers-reduced-motion", "reduce")
			page.Open(s.URL + "/")
			page.Fill("#key", "wrong")
			page.Press(enter)
			page.Wait(`document.getElementById("key-error").innerText !== ""`)
			c.check(page, "a wrong key")

			page.Fill("#key", s.Key)
			page.Press(enter)
			page.Wait(`document.getElementById("empty-add").checkVisibility()`)
			c.check(page, "an empty store")
			page.Click("#empty-add")
			page.Click("#send-add")
			page.Wait(`document.getElementById("name-error").innerText !== ""`)
			c.check(page, "the form with its complaints")
			page.Press(escape)

			s.add(t, animal("Olive", "available"), animal("Duke", "sold"), animal("Maple", "pending"))
			page.Reload()
			page.Wait(showsExactly("Maple", "Duke", "Olive"))
			c.check(page, "the list")
			page.Click(`[data-animal="1"]`)
			page.Click(`[data-action="reserve"]`)
			c.check(page, "the question for whom")
			page.Click("#send-reserve")
			page.Wait(`order.checkVisibility() && said.innerText.includes("reserved")`)
			c.check(page, "an animal that is reserved")
			page.Click(`[data-action="edit"]`)
			c.check(page, "the form of an animal that is reserved")
			page.Press(escape)
			page.Open(s.URL + "/?animal=2")
			page.Click(`[data-action="delete"]`)
			c.check(page, "the question before it is deleted")
			page.Open(s.URL + "/?animal=99")
			page.Wait(`missing.checkVisibility()`)
			c.check(page, "an animal that is not there")
			page.Click("#change-key")
			c.check(page, "the question for another key")
			page.Open(s.URL + "/?animal=2")
			page.Wait(is("Sold", "Bring back", "Edit", "Delete"))
			s.kill()
			page.Click(act("bring-back"))
			page.Wait(`notice.innerText.includes("cannot be reached")`)
			c.check(page, "a change that nobody answered")
		})
	}
}
