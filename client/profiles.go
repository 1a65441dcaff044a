package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Sex is the sex of an animal.
type Sex string

// The sexes of an animal.
const (
	Female Sex = "female"
	Male   Sex = "male"
)

// Profile is what the store knows about an animal beyond its Pet. A field that is not known is empty.
type Profile struct {
	Breed       string   `json:"breed,omitempty"`
	Sex         Sex      `json:"sex,omitempty"`
	BornOn      string   `json:"bornOn,omitempty"`    // a day, a month or a year: YYYY-MM-DD, YYYY-MM or YYYY
	ArrivedOn   string   `json:"arrivedOn,omitempty"` // a day: YYYY-MM-DD
	Description string   `json:"description,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	Notes       string   `json:"notes,omitempty"` // for staff; a key that may only read does not get them
	Photos      []Photo  `json:"photos"`          // the cover first
}

// missing reports whether the answer had no photos, not even an empty list.
func (p *Profile) missing() bool { return p.Photos == nil }

// ProfilePatch says what to change about a profile. A nil field stays as it is; an empty one is removed.
type ProfilePatch struct {
	Breed       *string
	Sex         *Sex
	BornOn      *string
	ArrivedOn   *string
	Description *string
	Tags        *[]string
	Notes       *string
}

func (p ProfilePatch) texts() (texts []string) {
	for _, text := range []*string{p.Breed, (*string)(p.Sex), p.BornOn, p.ArrivedOn, p.Description, p.Notes} {
		if text != nil {
			texts = append(texts, *text)
		}
	}
	if p.Tags != nil {
		texts = append(texts, *p.Tags...)
	}
	return texts
}

// MarshalJSON returns a JSON Merge Patch, in which null removes a field.
func (p ProfilePatch) MarshalJSON() ([]byte, error) {
	patch := make(map[string]any)
	for name, text := range map[string]*string{
		"breed": p.Breed, "sex": (*string)(p.Sex), "bornOn": p.BornOn, "arrivedOn": p.ArrivedOn, "description": p.Description, "notes": p.Notes,
	} {
		switch {
		case text == nil:
		case *text == "":
			patch[name] = nil
		default:
			patch[name] = *text
		}
	}
	if p.Tags != nil {
		patch["tags"] = append([]string{}, *p.Tags...)
	}
	return json.Marshal(patch)
}

// Photo is a photo of an animal. Its addresses need no key.
type Photo struct {
	ID           int64     `json:"id"`
	Width        int       `json:"width"` // of the picture at URL, in pixels
	Height       int       `json:"height"`
	URL          string    `json:"url"`
	ThumbnailURL string    `json:"thumbnailUrl"`
	CreatedAt    time.Time `json:"createdAt"`
}

func (p *Photo) missing() bool { return p.ID == 0 }

// completeAddresses adds the server to the addresses of photos that lack it. They do if the service does not know by which
// address it is reached.
func completeAddresses(answer any, server string) {
	switch answer := answer.(type) {
	case *[]Pet:
		for _, pet := range *answer {
			completeAddresses(pet.Profile, server)
		}
	case *[]Event:
		for i := range *answer {
			(*answer)[i].server = server
		}
	case *Profile:
		for i := 0; answer != nil && i < len(answer.Photos); i++ {
			completeAddresses(&answer.Photos[i], server)
		}
	case *Photo:
		for _, address := range []*string{&answer.URL, &answer.ThumbnailURL} {
			if strings.HasPrefix(*address, "/") {
				*address = server + *address
			}
		}
	}
}

// GetProfile returns the profile of an animal.
func (c *Client) GetProfile(ctx context.Context, petID int64, options ...CallOption) (p Profile, err error) {
	err = c.call(ctx, http.MethodGet, memberPath("/pets", petID)+"/profile", &p, options)
	return p, err
}

// UpdateProfile changes the profile of an animal and returns it as changed.
func (c *Client) UpdateProfile(ctx context.Context, petID int64, patch ProfilePatch, options ...CallOption) (p Profile, err error) {
	err = c.callWith(ctx, http.MethodPatch, memberPath("/pets", petID)+"/profile", patch, &p, options)
	return p, err
}

// MaxPhotoSize is the greatest size of an image file, in bytes.
const MaxPhotoSize = 5 << 20

// AddPhoto adds a photo to an animal. The file is a JPEG, PNG or WebP of at most MaxPhotoSize. AddPhoto reads it completely
// before it sends anything, so that a try that failed can be repeated. It returns ErrInvalidPhoto if the file is not such an
// image, and ErrTooManyPhotos if the animal has eight photos.
func (c *Client) AddPhoto(ctx context.Context, petID int64, file io.Reader, options ...CallOption) (p Photo, err error) {
	content, err := io.ReadAll(io.LimitReader(file, MaxPhotoSize+1))
	switch {
	case err != nil:
		return p, fmt.Errorf("the photo cannot be read: %w", err)
	case len(content) > MaxPhotoSize:
		return p, &Error{Code: ErrPayloadTooLarge, Status: http.StatusRequestEntityTooLarge, Message: "The photo is larger than 5 MiB. Send a smaller one."}
	case len(content) == 0:
		return p, errors.New("the photo is empty")
	}
	r := newRequest(http.MethodPost, memberPath("/pets", petID)+"/photos", options)
	r.body, r.mediaType = content, imageType(content)
	_, err = c.exchange(ctx, r, &p)
	return p, err
}

// imageType returns the media type of an image. The service itself decides by the bytes, so any of its types will do for a
// file that is none of them.
func imageType(content []byte) string {
	switch media := http.DetectContentType(content); media {
	case "image/png", "image/webp":
		return media
	}
	return "image/jpeg"
}

// CoverPhoto makes a photo the cover of its animal and returns the profile.
func (c *Client) CoverPhoto(ctx context.Context, petID, photoID int64, options ...CallOption) (p Profile, err error) {
	err = c.call(ctx, http.MethodPost, photoPath(petID, photoID)+"/cover", &p, options)
	return p, err
}

// DeletePhoto removes a photo. If it was the cover, the earliest of the other photos takes its place.
func (c *Client) DeletePhoto(ctx context.Context, petID, photoID int64, options ...CallOption) error {
	return c.call(ctx, http.MethodDelete, photoPath(petID, photoID), nil, options)
}

func photoPath(petID, photoID int64) string {
	return memberPath(memberPath("/pets", petID)+"/photos", photoID)
}
