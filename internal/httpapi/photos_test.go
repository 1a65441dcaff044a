package httpapi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
)

// jpegOf returns the file of a photo of that size.
func jpegOf(t testing.TB, width, height int) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, width, height))
	for i := range img.Pix {
		img.Pix[i] = color.Gray{Y: uint8(i * 7)}.Y
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// addPhoto adds a photo to animal 1 and returns the answer.
func (s *service) addPhoto(key string, file []byte) *answer {
	s.Helper()
	return s.send(withBody(request("POST", "/v1/pets/1/photos", key, "Content-Type: image/jpeg"), string(file)))
}

// withAnimal starts a service that has animal 1, and returns a key of it.
func withAnimal(t *testing.T, settings ...func(*httpapi.Config)) (*service, string) {
	t.Helper()
	s := serve(t, settings...)
	key := s.key(petstore.Enterprise)
	s.post(key, `{"name":"Biscuit","categoryId":1}`).is(t, 201, "")
	return s, key
}

func TestPhotosAreServedToEveryBrowser(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) {
		s, key := withAnimal(t, on(open(t)))
		added := s.addPhoto(key, jpegOf(t, 2000, 1000))
		added.is(t, 201, "")
		token := tokenOf.FindString(added.body)
		for name, side := range map[string]int{"1280": 1280, "400": 400} {
			address := "/photos/" + token + "/" + name + ".jpg"
			got := s.get("", address)
			got.is(t, 200, "")
			got.has(t, "Content-Type", "image/jpeg")
			got.has(t, "Cache-Control", "public, max-age=86400, immutable")
			got.has(t, "Etag", `"`+token+`"`)
			got.has(t, "X-Content-Type-Options", "nosniff")
			got.has(t, "X-RateLimit-Limit", "")
			shown, err := jpeg.DecodeConfig(strings.NewReader(got.body))
			if err != nil || shown.Width != side || shown.Height != side/2 {
				t.Errorf("%s shows %+v, %v", address, shown, err)
			}
			head := s.send(request("HEAD", address, ""))
			head.is(t, 200, "")
			head.has(t, "Content-Length", fmt.Sprint(len(got.body)))
			part := s.get("", address, "Range: bytes=10-19")
			part.is(t, 206, "")
			part.has(t, "Content-Range", fmt.Sprintf("bytes 10-19/%d", len(got.body)))
			if part.body != got.body[10:20] {
				t.Errorf("the range has %q", part.body)
			}
			s.get("", address, "If-None-Match: \""+token+"\"").is(t, 304, "")
			s.get("", address, "If-None-Match: \"other\"").is(t, 200, "")
		}
	})
}

func TestPhotosHaveTheBaseURL(t *testing.T) {
	s, key := withAnimal(t, func(c *httpapi.Config) { c.BaseURL = "https://api.example.com" })
	added := s.addPhoto(key, jpegOf(t, 8, 6))
	for _, want := range []string{`"url":"https://api.example.com/photos/`, `"thumbnailUrl":"https://api.example.com/photos/`} {
		if !strings.Contains(added.body, want) {
			t.Errorf("%s is missing in %s", want, added.body)
		}
	}
}

func TestPhotosOutOfReachAreUnavailable(t *testing.T) {
	storage := &photolessStorage{Storage: openSQLite(t)}
	s, key := withAnimal(t, on(storage))
	token := tokenOf.FindString(s.addPhoto(key, jpegOf(t, 8, 6)).body)
	got := s.get("", "/photos/"+token+"/400.jpg")
	got.is(t, 503, "unavailable")
	got.has(t, "Cache-Control", "no-store")
}

// photolessStorage is a storage that cannot read the files of photos.
type photolessStorage struct{ petstore.Storage }

func (photolessStorage) PhotoFile(_ context.Context, _ string, _ petstore.PhotoSize) ([]byte, error) {
	return nil, petstore.NotDone(errors.New("the disk is away"))
}

func TestAnOwnerSendsThreePhotosAtOnce(t *testing.T) {
	metrics := prometheus.NewRegistry()
	s, key := withAnimal(t, func(c *httpapi.Config) { c.Metrics, c.BodyBudget = metrics, httpapi.MinBodyBudget })
	other := s.key(petstore.Enterprise)
	var conns []io.Closer
	for range 3 {
		conn := dial(t, s.address)
		if _, err := io.WriteString(conn, request("POST", "/v1/pets/1/photos", key, "Content-Type: image/jpeg", "Content-Length: 5000000")+strings.Repeat("x", 100_000)); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	waitForMetric(t, metrics, "petstore_requests_in_flight", 3)
	file := jpegOf(t, 8, 6)
	for {
		refused := s.addPhoto(key, file)
		if refused.status == 503 {
			refused.is(t, 503, "unavailable")
			refused.has(t, "Retry-After", "1")
			break
		}
		refused.is(t, 201, "") // the server has not begun to read all three
	}
	s.addPhoto(other, file).is(t, 201, "")
	s.post(key, petOfSize(500<<10)).is(t, 201, "") // other bodies have their own budget
	for _, conn := range conns {
		conn.Close()
	}
	waitForMetric(t, metrics, "petstore_requests_in_flight", 0)
	s.addPhoto(key, file).is(t, 201, "")
	if photos := s.profile(1).Photos; len(photos) > 8 {
		t.Errorf("the broken uploads left %d photos", len(photos))
	}
}

func (s *service) profile(petID int64) petstore.Profile {
	s.Helper()
	profile, err := s.storage.GetProfile(s.Context(), petID)
	if err != nil {
		s.Fatal(err)
	}
	return profile
}

func TestAPhotoThatIsBrokenOffStoresNothing(t *testing.T) {
	s, key := withAnimal(t)
	file := jpegOf(t, 800, 600)
	conn := dial(t, s.address)
	io.WriteString(conn, request("POST", "/v1/pets/1/photos", key, "Content-Type: image/jpeg", "X-Request-Id: broken", fmt.Sprintf("Content-Length: %d", len(file)))+string(file[:len(file)/2]))
	conn.CloseWrite()
	got, err := readAnswer(conn, http.MethodPost)
	if err != nil {
		t.Fatal(err)
	}
	got.is(t, 400, "invalid_photo")
	s.addPhoto(key, file[:len(file)/2]).is(t, 400, "invalid_photo")
	if photos := s.profile(1).Photos; len(photos) > 0 {
		t.Errorf("it left %+v", photos)
	}
}

func TestAPhotoOfFiveMebibytesIsReadAndALargerOneIsNot(t *testing.T) {
	s, key := withAnimal(t)
	file := append(jpegOf(t, 8, 6), make([]byte, 5<<20)...) // decoders ignore what follows the image
	s.addPhoto(key, file[:5<<20]).is(t, 201, "")
	tooLarge := s.addPhoto(key, file[:5<<20+1])
	tooLarge.is(t, 413, "payload_too_large")
	chunked := request("POST", "/v1/pets/1/photos", key, "Content-Type: image/jpeg", "Transfer-Encoding: chunked") +
		fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", 5<<20+1, file[:5<<20+1])
	s.send(chunked).is(t, 413, "payload_too_large")
}

// Phones write into a photo where it was taken. Nothing of that is served.
func TestServedPhotosSayNothingButTheirPixels(t *testing.T) {
	s, key := withAnimal(t)
	plain := jpegOf(t, 600, 400)
	secret := "Exif\x00\x00MM\x00*\x00\x00\x00\x08GPS 48.8584 N 2.2945 E"
	file := slices.Concat(plain[:2], []byte{0xff, 0xe1, 0, byte(len(secret) + 2)}, []byte(secret), []byte{0xff, 0xfe, 0, 8}, []byte("by Ann"), plain[2:])
	added := s.addPhoto(key, file)
	added.is(t, 201, "")
	token := tokenOf.FindString(added.body)
	for _, name := range []string{"1280.jpg", "400.jpg"} {
		got := s.get("", "/photos/"+token+"/"+name)
		got.is(t, 200, "")
		for _, trace := range []string{"Exif", "GPS", "48.8584", "Ann", "\xff\xe1", "\xff\xfe"} {
			if strings.Contains(got.body, trace) {
				t.Errorf("%s has %q", name, trace)
			}
		}
	}
}

// profileCounter is a storage that counts how often profiles are read.
type profileCounter struct {
	petstore.Storage
	one, page atomic.Int64
}

func (s *profileCounter) GetProfile(ctx context.Context, id int64) (petstore.Profile, error) {
	s.one.Add(1)
	return s.Storage.GetProfile(ctx, id)
}

func (s *profileCounter) Profiles(ctx context.Context, ids []int64) (map[int64]petstore.Profile, error) {
	s.page.Add(1)
	return s.Storage.Profiles(ctx, ids)
}

func TestAPageOfProfilesIsOneQuery(t *testing.T) {
	storage := &profileCounter{Storage: openSQLite(t)}
	s, key := withAnimal(t, on(storage))
	for range 30 {
		s.post(key, `{"name":"Olive","categoryId":1}`).is(t, 201, "")
	}
	s.get(key, "/v1/pets?limit=25").is(t, 200, "")
	if one, page := storage.one.Load(), storage.page.Load(); one+page != 0 {
		t.Errorf("a list without profiles makes %d and %d queries", one, page)
	}
	s.get(key, "/v1/pets?limit=25&include=profile").is(t, 200, "")
	if one, page := storage.one.Load(), storage.page.Load(); one != 0 || page != 1 {
		t.Errorf("a list with profiles makes %d and %d queries", one, page)
	}
}

// A change of a profile is shown by the next list, however often the page was asked for before.
func TestAListShowsAProfileAsItIs(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) {
		s, key := withAnimal(t, on(open(t)))
		for i := range 20 {
			breed := fmt.Sprint("Breed ", i)
			s.send(withBody(request("PATCH", "/v1/pets/1/profile", key), fmt.Sprintf(`{"breed":%q}`, breed))).is(t, 200, "")
			for range 2 {
				if got := s.get(key, "/v1/pets?include=profile").body; !strings.Contains(got, `"breed":"`+breed+`"`) {
					t.Fatalf("want %s, got %s", breed, got)
				}
			}
		}
	})
}
