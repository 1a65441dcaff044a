package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"petstore/client"
)

// eventStream returns a stream with these frames, which then ends.
func eventStream(frames ...string) line {
	return line{status: 200, headers: []string{"Content-Type: text/event-stream"}, body: "retry: 3000\n\n" + strings.Join(frames, "")}
}

// hanging returns a stream on which nothing follows its frames.
func hanging(frames ...string) line {
	stream := eventStream(frames...)
	stream.hangs = true
	return stream
}

func eventFrame(n int) string {
	return fmt.Sprintf("id: evt_feed_%d\nevent: pet.created\ndata: %s\n\n", n, eventJSON(n))
}

func bookmark(n int) string { return fmt.Sprintf("id: evt_feed_%d\n\n", n) }

// followed returns the numbers of the events that Follow yields, up to the event last, and the error that ends it.
func followed(ctx context.Context, store *client.Client, o client.FollowOptions, last int64) (got []int64, err error) {
	for e, err := range store.Follow(ctx, o) {
		if err != nil {
			return got, err
		}
		if got = append(got, e.Sequence); e.Sequence == last {
			break
		}
	}
	return got, nil
}

// wantFollowed fails the test unless Follow yields the events of these numbers, of which the last ends the loop.
func wantFollowed(t *testing.T, store *client.Client, o client.FollowOptions, want ...int64) {
	t.Helper()
	got, err := followed(t.Context(), store, o, want[len(want)-1])
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("followed the events %v, then %v; want %v", got, err, want)
	}
}

var startOfFeed = eventsPage("evt_feed_0", true)

func TestFollowGoesOnWhereTheStreamEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{lines: []line{
			eventsPage("evt_feed_5", false, 5),
			eventStream(eventFrame(6), eventFrame(7)), // the service ends the stream
			eventStream(bookmark(9)),
			noServer, hangUp, refusal(503, client.ErrUnavailable), // the service restarts
			eventStream(eventFrame(10), "id: evt_feed_11\ndata: {\"id\":\"evt_"), // the connection breaks
			eventStream(eventFrame(11)),
		}}
		var opened, broken int
		wantFollowed(t, playing(t, s), client.FollowOptions{After: "evt_feed_4", Types: []client.EventType{"pet.*"},
			OnOpen: func() { opened++ }, OnBreak: func(error, time.Duration) { broken++ }}, 5, 6, 7, 10, 11)
		if opened != 4 || broken != 6 {
			t.Errorf("Follow told of %d openings and %d breaks", opened, broken)
		}
		for i, want := range []string{"", "evt_feed_5", "evt_feed_7", "evt_feed_9", "evt_feed_9", "evt_feed_9", "evt_feed_9", "evt_feed_10"} {
			if s.asked[i].lastEventID != want {
				t.Errorf("request %d goes on after %q, want %q", i, s.asked[i].lastEventID, want)
			}
		}
		if first, second := s.asked[0], s.asked[1]; first.target != "/v1/events?after=evt_feed_4&limit=1000&types=pet.%2A" || first.accept != "application/json" ||
			second.target != "/v1/events?types=pet.%2A" || second.accept != "text/event-stream" {
			t.Errorf("asked for %+v, then %+v", first, second)
		}
	})
}

// Otherwise the events before the first bookmark would be lost if the stream breaks.
func TestFollowKnowsItsPlaceBeforeTheFirstBookmark(t *testing.T) {
	for after, target := range map[string]string{"": "/v1/events?after=now&limit=1000", client.Now: "/v1/events?after=now&limit=1000", client.Oldest: "/v1/events?limit=1000"} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{lines: []line{eventsPage("evt_feed_3", true), hangUp, eventStream(), eventStream(eventFrame(4))}}
			wantFollowed(t, playing(t, s), client.FollowOptions{After: after}, 4)
			if s.asked[0].target != target || s.asked[1].lastEventID != "evt_feed_3" || s.asked[3].lastEventID != "evt_feed_3" {
				t.Errorf("after %q the client asked for %+v", after, s.asked)
			}
		})
	}
}

func TestTheWaitBeforeTheNextStreamIsTheOneThatTheServiceAsksFor(t *testing.T) {
	for retry, want := range map[string]time.Duration{"7000": 7 * time.Second, "3600000": time.Minute, "0": 0, "soon": 3 * time.Second, "-1": 3 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{lines: []line{startOfFeed, eventStream(bookmark(1), "retry: "+retry+"\n\n"), eventStream(eventFrame(2))}}
			var announced time.Duration
			wantFollowed(t, playing(t, s), client.FollowOptions{OnBreak: func(_ error, wait time.Duration) { announced = wait }}, 2)
			if waited := s.waits()[1]; waited < want || waited > want+200*time.Millisecond || waited != announced {
				t.Errorf("retry: %s leads to a wait of %s, announced as %s", retry, waited, announced)
			}
		})
	}
}

func TestASilentStreamIsTakenForDead(t *testing.T) {
	for name, silent := range map[string]line{
		"nothing":         hanging(bookmark(1)),
		"only comments":   hanging(bookmark(1), ": still here\n\n"),
		"an endless line": hanging(bookmark(1), "data: x"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{lines: []line{startOfFeed, silent, eventStream(eventFrame(2))}}
				var because error
				wantFollowed(t, playing(t, s), client.FollowOptions{OnBreak: func(err error, _ time.Duration) { because = err }}, 2)
				if waited := s.waits()[1]; waited < 40*time.Second || waited > 45*time.Second || s.asked[2].lastEventID != "evt_feed_1" {
					t.Errorf("the stream was opened again after %s at %s", waited, s.asked[2].lastEventID)
				}
				if because == nil || !strings.Contains(because.Error(), "said nothing for 40s") {
					t.Errorf("the break is reported as %v", because)
				}
			})
		})
	}
}

// slowStream is a stream that says something every 39 seconds.
type slowStream struct {
	frames []string
	buffer string
}

func (s *slowStream) Read(p []byte) (int, error) {
	if s.buffer == "" {
		if len(s.frames) == 0 {
			return 0, io.EOF
		}
		time.Sleep(39 * time.Second)
		s.buffer, s.frames = s.frames[0], s.frames[1:]
	}
	n := copy(p, s.buffer)
	s.buffer = s.buffer[n:]
	return n, nil
}

func TestAStreamThatSaysSomethingInTimeStaysOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stream := eventStream()
		stream.reader = &slowStream{frames: []string{bookmark(1), bookmark(2), eventFrame(3), eventFrame(4)}}
		s := &script{lines: []line{startOfFeed, stream}}
		store := playing(t, s)
		n := 0
		for e, err := range store.Follow(t.Context(), client.FollowOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Minute) // a slow reader is no silent stream
			if n++; e.Sequence == 4 {
				break
			}
		}
		if n != 2 || len(s.asked) != 2 {
			t.Errorf("got %d events with %d requests", n, len(s.asked))
		}
	})
}

func TestAnAnswerToTheOpeningThatNeverComesIsASilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{lines: []line{startOfFeed, {hangs: true}, eventStream(eventFrame(1))}}
		wantFollowed(t, playing(t, s), client.FollowOptions{}, 1)
		if waited := s.waits()[1]; waited < 40*time.Second || waited > 41*time.Second {
			t.Errorf("the client waited %s for an answer", waited)
		}
	})
}

func TestAGapIsToldAndTheOldestEventsFollow(t *testing.T) {
	gone := refusal(410, client.ErrEventsGone)
	for name, lines := range map[string][]line{
		"at the start":  {gone, eventsPage("evt_new_7", false, 7), eventStream(eventFrame(8))},
		"in the stream": {eventsPage("evt_feed_3", true), gone, eventsPage("evt_new_7", false, 7), eventStream(eventFrame(8))},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{lines: lines}
				var gaps []string
				wantFollowed(t, playing(t, s), client.FollowOptions{After: "evt_feed_3", OnGap: func(after string, refusal *client.Error) {
					gaps = append(gaps, after+" "+string(refusal.Code))
				}, OnBreak: func(err error, _ time.Duration) { t.Errorf("Follow told of a break: %v", err) }}, 7, 8)
				if fmt.Sprint(gaps) != "[evt_feed_3 events_gone]" {
					t.Errorf("the gaps are %q", gaps)
				}
				last := s.asked[len(s.asked)-2:]
				if last[0].target != "/v1/events?limit=1000" || last[1].lastEventID != "evt_new_7" {
					t.Errorf("after the gap the client asked for %+v", last)
				}
			})
			synctest.Test(t, func(t *testing.T) {
				s := &script{lines: lines}
				if got, err := followed(t.Context(), playing(t, s), client.FollowOptions{After: "evt_feed_3"}, 8); !errors.Is(err, client.ErrEventsGone) || got != nil {
					t.Errorf("without OnGap it followed %v, then %v", got, err)
				}
			})
		})
	}
}

// A service that has just restarted may refuse for a while, even when the events that follow a gap are to be read.
func TestAGapDuringAnOutageIsOvercome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := []line{startOfFeed, eventStream(bookmark(1)), refusal(410, client.ErrEventsGone)}
		for range 20 {
			lines = append(lines, noServer)
		}
		s := &script{lines: append(lines, eventsPage("evt_feed_7", true, 7), eventStream(eventFrame(8)))}
		gaps := 0
		wantFollowed(t, playing(t, s), client.FollowOptions{OnGap: func(string, *client.Error) { gaps++ }}, 7, 8)
		if gaps != 1 {
			t.Errorf("Follow told of %d gaps", gaps)
		}
	})
}

func TestOpeningAStreamObeysTheLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		used := eventStream(bookmark(1))
		used.headers = append(used.headers, "X-RateLimit-Remaining: 0")
		s := &script{lines: []line{startOfFeed, refusal(429, client.ErrRateLimited, "Retry-After: 60", "X-RateLimit-Remaining: 0"), used, eventStream(eventFrame(2))}}
		store := playing(t, s)
		wantFollowed(t, store, client.FollowOptions{}, 2)
		waits := s.waits()
		if waits[1] < time.Minute || waits[1] > 61*time.Second {
			t.Errorf("after Retry-After: 60 the client waited %s", waits[1])
		}
		if again := s.asked[3].at; again.Second() != 0 || waits[2] < 4*time.Second {
			t.Errorf("the window was used up, and the stream was opened again at %s, after %s", again, waits[2])
		}
	})
}

func TestAnOpenStreamHoldsNoPlaceInTheGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := hanging(eventFrame(1))
		open.headers = append(open.headers, "X-RateLimit-Remaining: 1")
		s := &script{lines: []line{startOfFeed, open, biscuit}}
		store := playing(t, s)
		for _, err := range store.Follow(t.Context(), client.FollowOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			if _, err := store.GetPet(t.Context(), 1); err != nil || time.Since(begin) > 0 {
				t.Errorf("beside the stream a call took %s, %v", time.Since(begin), err)
			}
			break
		}
	})
}

func TestFollowEndsWithARefusalThatStays(t *testing.T) {
	for name, c := range map[string]struct {
		lines []line
		want  client.Code
		asked int
	}{
		"a revoked key":       {[]line{startOfFeed, eventStream(bookmark(1)), refusal(401, client.ErrUnauthorized)}, client.ErrUnauthorized, 3},
		"a banned key":        {[]line{startOfFeed, eventStream(bookmark(1)), refusal(429, client.ErrKeyBanned, "Retry-After: 60")}, client.ErrKeyBanned, 3},
		"a wrong type":        {[]line{refusal(400, client.ErrInvalidParameter)}, client.ErrInvalidParameter, 1},
		"no service at first": {[]line{refusal(503, client.ErrUnavailable)}, client.ErrUnavailable, 6},
		"no stream at first":  {[]line{startOfFeed, refusal(503, client.ErrUnavailable)}, client.ErrUnavailable, 7},
		"too many at first":   {[]line{startOfFeed, refusal(409, client.ErrTooManyStreams)}, client.ErrTooManyStreams, 7},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{lines: c.lines}
				if got, err := followed(t.Context(), playing(t, s), client.FollowOptions{}, 1); !errors.Is(err, c.want) || got != nil || len(s.asked) != c.asked {
					t.Errorf("followed %v, then %v after %d requests", got, err, len(s.asked))
				}
			})
		})
	}
}

func TestAStreamThatWasOpenIsOpenedAgainHoweverLongThatTakes(t *testing.T) {
	for name, failure := range map[string]line{
		"no service": noServer, "no database": refusal(503, client.ErrUnavailable, "Retry-After: 5"), "streams that are still counted": refusal(409, client.ErrTooManyStreams),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lines := []line{startOfFeed, eventStream(bookmark(1))}
				for range 500 {
					lines = append(lines, failure)
				}
				s := &script{lines: append(lines, eventStream(eventFrame(2)))}
				begin := time.Now()
				wantFollowed(t, playing(t, s), client.FollowOptions{}, 2)
				if took := time.Since(begin); took < 30*time.Minute || took > 3*time.Hour {
					t.Errorf("500 failures took %s", took)
				}
			})
		})
	}
}

func TestAStreamOfSomethingElseIsAnError(t *testing.T) {
	page := line{status: 200, body: "<html>", headers: []string{"Content-Type: text/html"}}
	for name, answer := range map[string]line{
		"a page":             page,
		"a line too long":    eventStream("id: evt_feed_1\ndata: " + strings.Repeat("x", 2<<20) + "\n\n"),
		"an event too large": eventStream("id: evt_feed_1\n" + strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 3) + "\n"),
		"no event":           eventStream("id: evt_feed_1\ndata: {}\n\n"),
		"no JSON":            eventStream("id: evt_feed_1\ndata: <html>\n\n"),
		"an odd id":          eventStream("id: evt\x01\ndata: " + eventJSON(1) + "\n\n"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{lines: []line{startOfFeed, answer}}
				if got, err := followed(t.Context(), playing(t, s), client.FollowOptions{}, 1); err == nil || got != nil || len(s.asked) != 2 {
					t.Errorf("followed %v, then %v after %d requests", got, err, len(s.asked))
				}
			})
		})
	}
}

func TestALargeEventIsRead(t *testing.T) {
	name := strings.Repeat("x", 1<<20)
	stream := eventStream("id: evt_feed_1\ndata: " + strings.Replace(eventJSON(1), "Rex", name, 1) + "\n\n")
	for e, err := range playing(t, &script{lines: []line{startOfFeed, stream}}).Follow(t.Context(), client.FollowOptions{}) {
		if pet, _ := e.Pet(); err != nil || pet.Name != name {
			t.Errorf("read %d bytes, %v", len(e.Data), err)
		}
		break
	}
}

func TestFollowEndsWithItsContext(t *testing.T) {
	for name, lines := range map[string][]line{
		"in an open stream": {startOfFeed, hanging(eventFrame(1))},
		"during a wait":     {startOfFeed, eventStream(eventFrame(1)), noServer},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				begin := time.Now()
				time.AfterFunc(30*time.Second, cancel)
				got, err := followed(ctx, playing(t, &script{lines: lines}), client.FollowOptions{}, 2)
				if !errors.Is(err, context.Canceled) || len(got) != 1 || time.Since(begin) != 30*time.Second {
					t.Errorf("followed %v, then %v after %s", got, err, time.Since(begin))
				}
			})
		})
	}
}

func TestTheWaitNoticeTellsOfABreakUnlessOnBreakDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{lines: []line{startOfFeed, eventStream(bookmark(1)), eventStream(eventFrame(2))}}
		var notices int
		store := playing(t, s, client.WithWaitNotice(func(time.Duration, error) { notices++ }))
		wantFollowed(t, store, client.FollowOptions{}, 2)
		if notices != 1 {
			t.Errorf("there were %d notices", notices)
		}
	})
}
