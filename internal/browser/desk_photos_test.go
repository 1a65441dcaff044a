package browser

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// pictureFile makes a JPEG whose left half is red and whose right half is blue. An orientation other than 0 is written into
// the file as phones do it.
func pictureFile(t *testing.T, name string, width, height int, orientation uint16) string {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			half := color.RGBA{200, 30, 30, 255}
			if x >= width/2 {
				half = color.RGBA{30, 30, 200, 255}
			}
			picture.Set(x, y, half)
		}
	}
	var made bytes.Buffer
	if err := jpeg.Encode(&made, picture, nil); err != nil {
		t.Fatal(err)
	}
	file := made.Bytes()
	if orientation > 0 {
		exif := append([]byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01"), byte(orientation>>8), byte(orientation), 0, 0, 0, 0, 0, 0)
		segment := binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(exif)+2))
		file = append(append(append([]byte{}, file[:2]...), append(segment, exif...)...), file[2:]...)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const arrowRight = "\u0303"

type storedPhoto struct {
	ID            int64
	Width, Height int
	URL           string
}

func photosOf(t *testing.T, s *testservice.Instance) []storedPhoto {
	t.Helper()
	return testservice.Decode[struct{ Photos []storedPhoto }](t, s.Ask(t, http.MethodGet, "/v1/pets/1/profile", "").Body).Photos
}

// hasPhotos returns a JavaScript expression that is true if the page of the animal shows that many photos and sends none.
func hasPhotos(n int) string {
	return fmt.Sprintf(`new Set([...document.querySelectorAll("#photos a[data-photo]")].map(a => a.dataset.photo)).size === %d &&
		uploads.childElementCount === 0 && [...document.querySelectorAll("#photos a img")].every((i) => i.complete && i.naturalWidth > 0)`, n)
}

func TestALargePhotoIsSentSmallAndUpright(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Olive", "available"))
	page.Wait(isAvailable)
	testservice.Eval[bool](page, `(window.bytes = [], XMLHttpRequest.prototype.send = new Proxy(XMLHttpRequest.prototype.send, {apply(f, self, [body]) {
		createImageBitmap(body).then(({width, height}) => bytes.push(width + "x" + height));
		return f.call(self, body);
	}}), true)`)
	page.Choose("#photo-files", pictureFile(t, "phone.jpg", 2400, 1200, 6), pictureFile(t, "small.jpg", 300, 200, 0))
	page.Wait(hasPhotos(2) + ` && bytes.join() === "800x1600,300x200" && said.innerText === "The photo was added."`)
	got := photosOf(t, s)
	if len(got) != 2 || got[0].Width != 640 || got[0].Height != 1280 || got[1].Width != 300 {
		t.Fatalf("the store has the photos %+v", got)
	}
	large, err := jpeg.Decode(strings.NewReader(string(s.Ask(t, http.MethodGet, got[0].URL, "").Body)))
	if err != nil {
		t.Fatal(err)
	}
	if r, _, b, _ := large.At(320, 100).RGBA(); r < b {
		t.Error("the photo is not upright: its upper half is not red")
	}
	page.Click("#close-animal")
	page.Wait(showsExactly("Olive"))
}

func TestSigningOutLeavesNothingOfAnAnimalWithPhotos(t *testing.T) {
	_, page := openDesk(t, "?animal=1", animal("Olive", "available"))
	page.Wait(isAvailable)
	page.Choose("#photo-files", pictureFile(t, "small.jpg", 300, 200, 0))
	page.Wait(hasPhotos(1))
	page.Click("#change-key")
	page.Click("#forget-key")
	page.Wait(asksForKey + ` && !animal.checkVisibility() && !cover.checkVisibility()`)
}

func TestPhotosAreDroppedAndPasted(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Olive", "available"))
	page.Wait(isAvailable)
	bring := func(event string) {
		t.Helper()
		testservice.Eval[bool](page, `(() => {
			const canvas = Object.assign(document.createElement("canvas"), {width: 40, height: 30});
			canvas.getContext("2d").fillRect(0, 0, 20, 20);
			canvas.toBlob((blob) => {
				const data = new DataTransfer();
				data.items.add(new File([blob], "cat.png", {type: "image/png"}));
				`+event+`
			});
			return true;
		})()`)
	}
	bring(`for (const type of ["dragover", "drop"]) document.querySelector("main").dispatchEvent(new DragEvent(type, {dataTransfer: data, bubbles: true, cancelable: true}));`)
	page.Wait(hasPhotos(1) + ` && !photos.classList.contains("dropping")`)
	bring(`document.body.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));`)
	page.Wait(hasPhotos(2))
	if got := photosOf(t, s); len(got) != 2 || got[0].Width != 40 {
		t.Errorf("the store has the photos %+v", got)
	}
	if testservice.Eval[string](page, `document.querySelector(".camera input").getAttribute("capture")`) != "environment" {
		t.Error("a phone does not offer its camera")
	}
}

func TestARefusedPhotoHasTheServersSentence(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Olive", "available"))
	page.Wait(isAvailable)
	broken := filepath.Join(t.TempDir(), "broken.jpg")
	if err := os.WriteFile(broken, []byte("\xff\xd8\xff\xe0 no picture"), 0o600); err != nil {
		t.Fatal(err)
	}
	page.Choose("#photo-files", broken)
	page.Wait(`uploads.innerText.includes("The photo is damaged or cut off.") && uploads.innerText.includes("broken.jpg")`)
	page.Click("#uploads button")
	page.Wait(`uploads.childElementCount === 0 && document.activeElement.id === "photo-files"`)

	small := pictureFile(t, "small.jpg", 30, 20, 0)
	page.Choose("#photo-files", small, small, small, small, small, small, small, small, small)
	page.Wait(`uploads.childElementCount === 1 && uploads.innerText.includes("This animal already has 8 photos. Delete one first.")`)
	page.Wait(`!document.querySelector(".more-photos").checkVisibility() && document.querySelector(".all-photos").checkVisibility()`)
	page.Click("#cover")
	page.Click("#viewer-delete")
	page.Click("#ask-yes")
	page.Wait(`said.innerText === "The photo was deleted." && strip.childElementCount === 7`)
	page.Click("#viewer-close")
	page.Click("#uploads .notice button")
	page.Wait(hasPhotos(8))
	if got := photosOf(t, s); len(got) != 8 {
		t.Errorf("the store has %d photos", len(got))
	}
}

// The network fails after the server has taken the photo.
func TestTryingAgainNeverAddsAPhotoTwice(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Olive", "available"))
	page.Wait(isAvailable)
	testservice.Eval[bool](page, `(() => {
		const {send, setRequestHeader} = XMLHttpRequest.prototype;
		window.named = [];
		XMLHttpRequest.prototype.setRequestHeader = function (name, value) {
			if (name === "Idempotency-Key") named.push(value);
			return setRequestHeader.call(this, name, value);
		};
		XMLHttpRequest.prototype.send = function (body) {
			if (named.length === 1) for (const name of ["status", "responseText"]) Object.defineProperty(this, name, {get: () => name === "status" ? 0 : ""});
			return send.call(this, body);
		};
		return true;
	})()`)
	page.Choose("#photo-files", pictureFile(t, "small.jpg", 30, 20, 0))
	page.Wait(`uploads.innerText.includes("The store cannot be reached") && uploads.innerText.includes("never added twice")`)
	page.Click("#uploads .notice button")
	page.Wait(hasPhotos(1) + ` && named.length === 2 && named[0] === named[1]`)
	if got := photosOf(t, s); len(got) != 1 {
		t.Errorf("the store has the photos %+v", got)
	}
}

func TestAnUploadShowsItsProgressAndCanBeCancelled(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Olive", "available"))
	page.Wait(isAvailable)
	testservice.Eval[bool](page, `(XMLHttpRequest.prototype.send = function () {
		window.stuck = this;
		this.upload.dispatchEvent(new ProgressEvent("progress", {loaded: 40, total: 100}));
	}, true)`)
	page.Choose("#photo-files", pictureFile(t, "first.jpg", 30, 20, 0), pictureFile(t, "second.jpg", 30, 20, 0))
	page.Wait(`uploads.childElementCount === 2 && document.querySelector("#uploads progress").value === 0.4`)
	page.Click("#uploads button")
	page.Wait(`uploads.childElementCount === 1 && uploads.innerText.includes("second.jpg")`)
	page.Click("#uploads button")
	page.Wait(`uploads.childElementCount === 0 && document.activeElement.id === "photo-files"`)
	if got := photosOf(t, s); len(got) != 0 {
		t.Errorf("the store has the photos %+v", got)
	}
}

func TestTheCoverIsChosenInTheLargeView(t *testing.T) {
	s, page := openDesk(t, "", animal("Olive", "available"))
	page.Click(`[data-animal="1"]`)
	page.Wait(isAvailable)
	page.Choose("#photo-files", pictureFile(t, "a.jpg", 30, 20, 0), pictureFile(t, "b.jpg", 40, 20, 0), pictureFile(t, "c.jpg", 50, 20, 0))
	page.Wait(hasPhotos(3))
	before := photosOf(t, s)
	page.Click("#strip li:nth-child(3) a")
	page.Wait(`viewer.open && document.getElementById("viewer-place").innerText === "3 of 3" && document.getElementById("viewer-photo").naturalWidth === 50`)
	page.Press(arrowRight)
	page.Wait(`document.getElementById("viewer-place").innerText === "1 of 3" && !document.getElementById("viewer-cover").checkVisibility()`)
	page.Click("#viewer-next")
	testservice.Eval[bool](page, `(window.orders = new Set(), new MutationObserver(() => orders.add([...strip.querySelectorAll("a")].map((a) => a.dataset.photo).join())).observe(strip, { subtree: true, attributes: true }), true)`)
	page.Click("#viewer-cover")
	page.Wait(`said.innerText === "This photo is the cover now." && document.getElementById("viewer-place").innerText === "1 of 3"`)
	after := photosOf(t, s)
	if after[0].ID != before[1].ID || after[1].ID != before[0].ID {
		t.Errorf("the photos were %+v and are %+v", before, after)
	}
	if got, want := testservice.Eval[string](page, `[...orders].join(" ")`), fmt.Sprintf("%d,%d,%d", after[0].ID, after[1].ID, after[2].ID); got != want {
		t.Errorf("the page has shown the photos in the order %s, want %s", got, want)
	}
	page.Press(escape)
	page.Wait(fmt.Sprintf(`!viewer.open && document.querySelector("#cover img").naturalWidth === 40 && cover.dataset.photo === "%d"`, after[0].ID))

	page.Click("#cover")
	page.Click("#viewer-delete")
	page.Press(escape)
	page.Wait(`!ask.open && viewer.open`)
	page.Click("#viewer-delete")
	page.Click("#ask-yes")
	page.Wait(`said.innerText === "The photo was deleted."`)
	page.Press(escape)
	page.Wait(hasPhotos(2))
	s.Ask(t, http.MethodDelete, fmt.Sprintf("/v1/pets/1/photos/%d", after[1].ID), "") // by another person
	page.Wait(hasPhotos(1))
	testservice.Eventually(t, "the store has one photo", 30*time.Second, func() bool { return len(photosOf(t, s)) == 1 })
}
