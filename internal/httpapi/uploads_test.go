package httpapi

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"petstore/internal/petstore"
)

func uploadOf(ctx context.Context) *exchange {
	return &exchange{r: new(http.Request).WithContext(ctx), key: &noKey, body: []byte("no photo")}
}

func TestAPhotoWaitsTwoSecondsForAnotherOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUploads()
		u.decoding <- struct{}{}
		began := time.Now()
		_, err := u.process(uploadOf(t.Context()))
		if refused := new(exchange).refusalOf(err); refused.code != petstore.Unavailable || time.Since(began) != 2*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		go func() {
			time.Sleep(time.Second)
			<-u.decoding
		}()
		began = time.Now()
		_, err = u.process(uploadOf(t.Context()))
		if refused := new(exchange).refusalOf(photoRefusal(err)); refused.code != invalidPhoto || time.Since(began) != time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		u.decoding <- struct{}{} // it is free again
	})
}

func TestAPhotoWhoseClientHangsUpStopsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUploads()
		u.decoding <- struct{}{}
		ctx, hangUp := context.WithTimeout(t.Context(), time.Second)
		defer hangUp()
		began := time.Now()
		_, err := u.process(uploadOf(ctx))
		if refused := new(exchange).refusalOf(err); refused.code != petstore.Unavailable || time.Since(began) != time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}
