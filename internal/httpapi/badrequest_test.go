package httpapi_test

import (
	"strings"
	"testing"
	"time"

	"petstore/internal/petstore"
)

func TestMalformedAuthorizationIsRefused(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Enterprise)
	const (
		nothingSent = `Bearer realm="petstore"`
		tokenSent   = `Bearer realm="petstore", error="invalid_token"`
	)
	for _, c := range []struct {
		behaviour string
		headers   []string
		challenge string
	}{
		{"no header", nil, nothingSent},
		{"an empty header", []string{"Authorization:"}, nothingSent},
		{"a scheme alone", []string{"Authorization: Bearer"}, nothingSent},
		{"a scheme and spaces", []string{"Authorization: Bearer    "}, nothingSent},
		{"a key alone", []string{"Authorization: " + key}, nothingSent},
		{"Basic", []string{"Authorization: Basic cGV0czpwZXRz"}, nothingSent},
		{"Basic with a key", []string{"Authorization: Basic " + key}, nothingSent},
		{"Digest", []string{`Authorization: Digest username="a"`}, nothingSent},
		{"a scheme that begins with Bearer", []string{"Authorization: BearerToken " + key}, nothingSent},
		{"no space after the scheme", []string{"Authorization: Bearer" + key}, nothingSent},
		{"a colon after the scheme", []string{"Authorization: Bearer: " + key}, nothingSent},
		{"a tab after the scheme", []string{"Authorization: Bearer\t" + key}, nothingSent},
		{"a tab before the key", []string{"Authorization: Bearer \t" + key}, tokenSent},
		{"the scheme twice", []string{"Authorization: Bearer Bearer " + key}, tokenSent},
		{"two keys", []string{"Authorization: Bearer " + key + " " + key}, tokenSent},
		{"two keys with a comma", []string{"Authorization: Bearer " + key + "," + key}, tokenSent},
		{"two headers", []string{"Authorization: Bearer " + key, "Authorization: Bearer " + key}, tokenSent},
		{"two headers, one of them empty", []string{"Authorization: Bearer " + key, "Authorization:"}, tokenSent},
		{"two headers with different schemes", []string{"Authorization: Basic cGV0czpwZXRz", "Authorization: Bearer " + key}, tokenSent},
		{"quotation marks", []string{`Authorization: Bearer "` + key + `"`}, tokenSent},
		{"angle brackets", []string{"Authorization: Bearer <" + key + ">"}, tokenSent},
		{"a key that is cut short", []string{"Authorization: Bearer " + key[:len(key)-1]}, tokenSent},
		{"a key that is too long", []string{"Authorization: Bearer " + key + "0"}, tokenSent},
		{"a key in capitals", []string{"Authorization: Bearer " + strings.ToUpper(key)}, tokenSent},
		{"a key of the other environment", []string{"Authorization: Bearer " + petstore.NewSecret(petstore.Staging)}, tokenSent},
		{"a key that does not exist", []string{"Authorization: Bearer " + petstore.NewSecret(petstore.Production)}, tokenSent},
		{"bytes that are not ASCII", []string{"Authorization: Bearer ü\xff"}, tokenSent},
		{"SQL", []string{"Authorization: Bearer ' OR 1=1 --"}, tokenSent},
		{"129 characters", []string{"Authorization: Bearer " + strings.Repeat("a", 129)}, tokenSent},
		{"100 kB", []string{"Authorization: Bearer " + strings.Repeat("a", 100_000)}, tokenSent},
		{"100 kB of spaces before a key", []string{"Authorization: Bearer " + strings.Repeat(" ", 100_000) + "x"}, tokenSent},
		{"the header for proxies", []string{"Proxy-Authorization: Bearer " + key}, nothingSent},
		{"the header of other APIs", []string{"X-API-Key: " + key}, nothingSent},
	} {
		t.Run(c.behaviour, func(t *testing.T) {
			for _, target := range []string{"/v1/pets", "/v1/pets/1", "/v1/dogs", "/v1/pets?access_token=" + key} {
				a := s.in(t).get("", target, c.headers...)
				a.is(t, 401, "unauthorized")
				a.has(t, "WWW-Authenticate", c.challenge)
			}
			a := s.in(t).post("", `{"name":"Rex","categoryId":1}`, c.headers...)
			a.is(t, 401, "unauthorized")
			a.has(t, "WWW-Authenticate", c.challenge)
		})
	}
	if pets := s.pets(); len(pets) != 0 {
		t.Errorf("stored all the same: %v", pets)
	}
}

func TestWellFormedAuthorizationPasses(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Enterprise)
	for _, header := range []string{"Authorization: Bearer ", "authorization: bearer ", "AUTHORIZATION:BEARER ", "Authorization: \t Bearer    "} {
		s.get("", "/v1/pets", header+key).is(t, 200, "")
		s.get("", "/v1/pets", header+key+" \t").is(t, 200, "")
	}
}

func TestMalformedParameterIsRefused(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Enterprise)
	for _, query := range []string{
		"limit=0", "limit=-1", "limit=101", "limit=1000", "limit=", "limit", "limit=ten", "limit=1.0", "limit=1e1", "limit=0x10", "limit=01",
		"limit=+5", "limit=%2B5", "limit=%205", "limit=5%20", "limit=5,6", "limit=1_0", "limit=NaN", "limit=null", "limit=%00", "limit=٣",
		"limit=9223372036854775808", "limit=18446744073709551617", "limit=-9223372036854775809", "limit=" + strings.Repeat("1", 100_000),
		"limit=5&limit=5", "limit=5&limit=6", "limit=5&li%6Dit=5", "limit=&limit=5",
		"status=", "status", "status=lost", "status=Available", "status=SOLD", "status=sold%20", "status=available,sold", "status=1", "status=null",
		"status=sold%00", "status=sold&status=sold", "status=sold&status=available", "status=" + strings.Repeat("sold", 25_000),
		"cursor=", "cursor", "cursor=0", "cursor=41", "cursor=null", "cursor=AQAAAAAAAAAp&cursor=AQAAAAAAAAAp", "cursor=AQAAAAAAAAA", "cursor=AQAAAAAAAAApA",
		"cursor=AQAAAAAAAAAp=", "cursor=AQAAAAAAAAAp%3D%3D%3D%3D", "cursor=AAAAAAAAAAAp", "cursor=AgAAAAAAAAAp", "cursor=AQAAAAAAAAAA", "cursor=Af__________",
		"cursor=AQAA%0AAAAAAAp", "cursor=AQAAAAAAAA%2Bp", "cursor=%FF%FE", "cursor=../../etc/passwd", "cursor='%20OR%201=1", "cursor=" + strings.Repeat("A", 100_000),
		"q=", "q", "q=%F0%9F%90%95+%00", "q=%FF", "q=rex&q=rex", "q=" + strings.Repeat("a", 101), "q=" + strings.Repeat("a+", 9), "q=" + strings.Repeat("a", 100_000),
		"categoryId=", "categoryId", "categoryId=dogs", "categoryId=1.0", "categoryId=01", "categoryId=1&categoryId=1", "categoryId=9223372036854775808",
		"include=", "include", "include=photos", "include=profile,profile", "include=Profile", "include=profile&include=profile",
		"%", "%zz", "x=%", "x=%2", "%zz=1", "limit=5&x=%zz", "limit=5;status=sold", "a;b",
	} {
		t.Run(query[:min(len(query), 40)], func(t *testing.T) {
			s.in(t).get(key, "/v1/pets?"+query).is(t, 400, "invalid_parameter")
			s.in(t).send(request("HEAD", "/v1/pets?"+query, key)).is(t, 400, "")
		})
	}
}

func TestUnknownParametersAreIgnored(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Enterprise)
	for _, query := range []string{
		"", "&", "&&&", "=", "=1", "x", "page=2", "x=1&x=2", "Limit=0", "LIMIT=ten", "limit%20=0", "limit[]=0", "Status=lost", "Q=&query=%F0%9F%90%95+%00", "categoryID=dogs", "Include=all",
		"limit=100&offset=-1", strings.Repeat("x=1&", 25_000),
	} {
		s.get(key, "/v1/pets?"+query).is(t, 200, "")
	}
	s.post(key, `{"name":"Rex","categoryId":1}`)
	s.get(key, "/v1/pets/1?limit=ten&status=lost&%zz").is(t, 200, "")
	s.send(withBody(request("POST", "/v1/pets?limit=ten&%zz", key), `{"name":"Rex","categoryId":1}`)).is(t, 201, "")
}

func TestMalformedIDIsNotFound(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Enterprise)
	s.post(key, `{"name":"Rex","categoryId":1}`).is(t, 201, "")
	s.get(key, "/v1/pets/1").is(t, 200, "")
	for _, id := range []string{
		"0", "2", "-1", "-0", "+1", "01", "001", "1.0", "1e0", "0x1", "1_", "%30", "%2B1", "1%20", "%201", "1%00", "%00", "1;", "1,2", "rex", "null", "NaN", "*", ".", "..",
		"%2e", "%2e%2e", "1%2F", "%2F1", "١", "%D9%A1", "%ff", "{petId}", "9223372036854775807", "9223372036854775808", "18446744073709551617",
		"-9223372036854775808", strings.Repeat("1", 100_000), "1'%20OR%20'1'='1", "%3Cscript%3E", "pets", "~", "!", "@", ":1",
	} {
		t.Run(id[:min(len(id), 40)], func(t *testing.T) {
			a := s.in(t).get(key, "/v1/pets/"+id)
			a.is(t, 404, "not_found")
			a.has(t, "Deprecation", "@1794700800")
		})
	}
}

func TestImpossibleIDIsNotFoundBeforeTheBodyIsRead(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Enterprise)
	for _, id := range []string{"0", "-1", "9007199254740992", "9223372036854775807"} {
		for _, at := range []string{"PATCH /v1/pets/" + id, "PATCH /v1/orders/" + id, "POST /v1/orders/" + id + "/complete", "POST /v1/orders/" + id + "/cancel"} {
			method, path, _ := strings.Cut(at, " ")
			s.send(withBody(request(method, path, key), "not JSON")).is(t, 404, "not_found")
			s.send(withBody(request(method, path, key), petOfSize(1<<20+1))).is(t, 404, "not_found")
		}
		s.send(request("DELETE", "/v1/pets/"+id, key)).is(t, 404, "not_found")
		s.get(key, "/v1/orders/"+id).is(t, 404, "not_found")
	}
	s.send(withBody(request("PATCH", "/v1/pets/9007199254740991", key), "not JSON")).is(t, 400, "invalid_json")
}

func TestOptionsUsesNoQuota(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Free)
	for _, path := range []string{"/v1/pets", "/v1/pets/1", "/v1/dogs", "/", "/dogs", "*"} {
		for range 3 {
			s.send(request("OPTIONS", path, key)).hasLimits(t, 60, 60, noon.Add(time.Minute))
			s.send(request("OPTIONS", path, "")).hasLimits(t, 1000, 1000, noon.Add(time.Minute))
		}
	}
	guess := s.send(request("OPTIONS", "/v1/pets", petstore.NewSecret(petstore.Production)))
	guess.is(t, 204, "")
	guess.hasLimits(t, 1000, 999, noon.Add(time.Minute))
}

func TestOddPathIsNotFound(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Enterprise)
	for _, path := range []string{
		"/v1", "/v1/", "/v1/pets/", "/v1//pets", "/v1/./pets", "/v1/../v1/pets", "/v1/pets/1/", "/v1/pets/1/2", "/v1/pets//1", "/v1/pets/../pets", "/v1/PETS",
		"/v1/%2e/pets", "/v1/pets%2F1", "/v1/pets%2f", "/v1/pets%00", "/v1/pets;x=1", "/v1/pets.json", "/v1/pets%20", "/v1/pets%3Flimit=1", "/v1/pets#x", "/v1/pet",
		"/v1/order", "/v1/orders/", "/v1/orders/1/complete/", "/v1/orders/1/close", "/v1/categories/1/2", "/v1/inventory/1", "/v1/openapi.yaml", "/v1/" + strings.Repeat("a", 100_000), "/v1/" + strings.Repeat("../", 10_000), "/v1/%C3%BC", "/v1/%ff",
	} {
		s.get(key, path).is(t, 404, "not_found")
		s.get("", path).is(t, 401, "unauthorized")
	}
	for _, path := range []string{
		"/", "//", "//v1/pets", "///v1/pets", "/v1%2Fpets", "/%56%31/pets", "/V1/pets", "/v2/pets", "/v1pets", "/v1.", "/pets", "/pets/1", "/./v1/pets", "/../v1/pets",
		"/favicon.ico", "/robots.txt", "/.env", "/wp-login.php", "/admin", "/metrics", "/debug/pprof/", "/index.html", "/%2e%2e/%2e%2e/etc/passwd",
	} {
		s.get(key, path).is(t, 404, "not_found")
		s.get("", path).is(t, 404, "not_found")
		s.send(withBody(request("POST", path, ""), `{"name":"Rex","categoryId":1}`)).is(t, 404, "not_found")
	}
	s.get(key, "http://elsewhere.example/v1/pets").is(t, 200, "")
	if pets := s.pets(); len(pets) != 0 {
		t.Errorf("stored all the same: %v", pets)
	}
}

// By RFC 3986, section 2.3, an unreserved character means the same whether or not it is percent-encoded. Percent-encoding
// any other character changes its meaning.
func TestPercentEncodedUnreservedCharactersEqualThemselves(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Enterprise)
	s.post(key, `{"name":"Rex","categoryId":1}`).is(t, 201, "")
	for path, status := range map[string]int{
		"/v1/pets/%31": 200, "/v1/%70ets": 200, "/v1/%70%65%74%73": 200, "/%76%31/pets": 200, "/v1/p%65t%73/%31": 200,
		"/v1%2Fpets": 404, "/v1/pets%2F1": 404, "/v1/pets/%2531": 404, "/v1/pets/1%2e": 404, "/v1/pets/%7E": 404, "/v1/pets%3F": 404,
	} {
		if got := s.get(key, path); got.status != status {
			t.Errorf("%s: want %d, got\n%s", path, status, got.raw)
		}
	}
	s.get(key, "/v1/pets/%31").has(t, "Deprecation", "@1794700800")
	s.get("", "/%76%31/dogs").is(t, 401, "unauthorized")
}

func TestUnknownMethodIsNotAllowed(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Enterprise)
	for _, method := range []string{"PUT", "TRACE", "CONNECT", "PROPFIND", "QUERY", "get", "Post", "X", strings.Repeat("X", 10_000), "G!#$%&'*+-.^_`|~T"} {
		for path, allow := range map[string]string{
			"/v1/pets":              "GET, HEAD, POST, OPTIONS",
			"/v1/pets/1":            "GET, HEAD, PATCH, DELETE, OPTIONS",
			"/v1/inventory":         "GET, HEAD, OPTIONS",
			"/v1/categories":        "GET, HEAD, POST, OPTIONS",
			"/v1/orders":            "GET, HEAD, POST, OPTIONS",
			"/v1/orders/1":          "GET, HEAD, PATCH, OPTIONS",
			"/v1/orders/1/complete": "POST, OPTIONS",
			"/v1/orders/1/cancel":   "POST, OPTIONS",
		} {
			s.send(request(method, path, "")).is(t, 401, "unauthorized")
			a := s.send(withBody(request(method, path, key), `{"name":"Rex","categoryId":1}`))
			a.is(t, 405, "method_not_allowed")
			a.has(t, "Allow", allow)
			a.has(t, "Deprecation", "")
		}
		s.send(request(method, "/v1/dogs", key)).is(t, 404, "not_found")
	}
	a := s.send(withBody(request("POST", "/v1/categories/1", key), `{"name":"Cats"}`))
	a.is(t, 405, "method_not_allowed")
	a.has(t, "Allow", "GET, HEAD, PUT, DELETE, OPTIONS")
	s.send(withBody(request("POST", "/v1/pets/1", key), `{"name":"Rex","categoryId":1}`)).is(t, 405, "method_not_allowed")
	if pets := s.pets(); len(pets) != 0 {
		t.Errorf("stored all the same: %v", pets)
	}
}

func TestMethodOverridesAreIgnored(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Enterprise)
	for _, header := range []string{"X-HTTP-Method-Override: POST", "X-Original-URL: /v1/dogs", "X-Rewrite-URL: /v1/dogs", "Forwarded: for=1.2.3.4", "X-Forwarded-Prefix: /x"} {
		s.get(key, "/v1/pets", header).is(t, 200, "")
	}
}

func TestRequestIDIsRepeatedOnlyIfItIsSafe(t *testing.T) {
	s := serve(t)
	for _, id := range []string{"a", "6f8b2a52-5f0e-4f6e-9c2b-5a0f6b1c7d3e", "A_z.0-9", strings.Repeat("x", 64)} {
		s.get("", "/v1/pets", "X-Request-Id: "+id).has(t, "X-Request-Id", id)
	}
	for _, headers := range [][]string{
		nil, {"X-Request-Id:"}, {"X-Request-Id: " + strings.Repeat("x", 65)}, {"X-Request-Id: a b"}, {"X-Request-Id: a\tb"}, {`X-Request-Id: a"b`}, {"X-Request-Id: a;b"},
		{"X-Request-Id: ü"}, {"X-Request-Id: \xff"}, {"X-Request-Id: a\\nb"}, {"X-Request-Id: <script>"}, {"X-Request-Id: a%0d%0ab"}, {"X-Request-Id: a", "X-Request-Id: b"},
		{"X-Request-Id: a,b"}, {"X-Request-Id: {a}"}, {"X-Request-Id: " + strings.Repeat("x", 100_000)},
	} {
		first, second := s.get("", "/v1/pets", headers...), s.get("", "/v1/pets", headers...)
		made := first.header.Get("X-Request-Id")
		if len(made) != 16 || made == second.header.Get("X-Request-Id") {
			t.Errorf("%.80q: got %q and %q, want two that were made", headers, made, second.header.Get("X-Request-Id"))
		}
	}
}
