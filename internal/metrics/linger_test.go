package metrics

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestParseLinger(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want Linger
		bad  bool
	}{
		{"", Linger{}, false},
		{"0", Linger{Mode: None}, false},
		{"0s", Linger{Mode: None}, false},
		{"scrape", Linger{Mode: Scrape}, false},
		{"30s", Linger{Fixed, 30 * time.Second}, false},
		{"30", Linger{Fixed, 30 * time.Second}, false},
		{"0.5", Linger{Fixed, 500 * time.Millisecond}, false},
		{"1m30s", Linger{Fixed, 90 * time.Second}, false},
		{"-1s", Linger{}, true},
		{"1m30", Linger{}, true},
		{".", Linger{}, true},
		{"1e3", Linger{}, true},
		{"99999999999999999999", Linger{}, true},
		{"Scrape", Linger{}, true},
		{"forever", Linger{}, true},
	} {
		got, err := ParseLinger(tt.text)
		if got != tt.want || (err != nil) != tt.bad {
			t.Errorf("ParseLinger(%q) = %+v, %v, want %+v, an error: %v", tt.text, got, err, tt.want, tt.bad)
		}
		if want := `metrics: linger "` + tt.text + `": want 0, a duration`; err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("ParseLinger(%q): %v, want %s...", tt.text, err, want)
		}
	}
}

func FuzzParseLinger(f *testing.F) {
	for _, text := range []string{"", "0", "scrape", "30", "1.5", "1m30s", "-1s", ".", "9223372036854775807ns"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseLinger(text)
		if err == nil && (l.Mode == Fixed) != (l.For > 0) {
			t.Errorf("ParseLinger(%q) = %+v", text, l)
		}
		if err != nil && l != (Linger{}) {
			t.Errorf("ParseLinger(%q) = %+v with %v", text, l, err)
		}
	})
}

// scrape scrapes s without a network.
func scrape(t *testing.T, s *Server) {
	t.Helper()
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, httptest.NewRequest("GET", s.o.Path, nil))
	if w.Code != 200 {
		t.Errorf("status %d, want 200; %s", w.Code, w.Body)
	}
}

// A stopped is a client that takes nothing until it is let go.
type stopped struct {
	http.ResponseWriter
	let chan struct{}
}

func (s stopped) Write(b []byte) (int, error) {
	<-s.let
	return s.ResponseWriter.Write(b)
}

func (s stopped) Flush() {}

// A failing is a client that is gone, once the server writes or flushes.
type failing struct {
	http.ResponseWriter
	write, flush error
}

func (f failing) Write(b []byte) (int, error) { return len(b), f.write }
func (f failing) FlushError() error           { return f.flush }

func TestLinger(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		linger  Linger
		before  bool          // there was a scrape
		between bool          // and one after the end
		after   time.Duration // 0: none
		stop    time.Duration // 0: none
		want    LingerEnd
		forTime time.Duration
	}{
		{"default without a scrape", Linger{}, false, false, time.Second, 0, NoLinger, 0},
		{"default", Linger{}, true, false, 7 * time.Second, 0, Scraped, 7 * time.Second},
		{"default, no more scrape", Linger{}, true, false, 0, 0, Unscraped, time.Minute},
		{"none", Linger{Mode: None}, true, false, time.Second, 0, NoLinger, 0},
		{"fixed", Linger{Fixed, 90 * time.Second}, false, false, time.Second, 0, Elapsed, 90 * time.Second},
		{"fixed, stopped", Linger{Fixed, 90 * time.Second}, true, false, time.Second, 3 * time.Second, Interrupted, 3 * time.Second},
		{"scrape", Linger{Mode: Scrape}, false, false, 59 * time.Second, 0, Scraped, 59 * time.Second},
		{"scrape, none", Linger{Mode: Scrape}, false, false, 0, 0, Unscraped, time.Minute},
		{"scrape, too late", Linger{Mode: Scrape}, true, false, 61 * time.Second, 0, Unscraped, time.Minute},
		{"scrape, stopped", Linger{Mode: Scrape}, true, false, 0, 5 * time.Second, Interrupted, 5 * time.Second},
		{"scrape, there was one", Linger{Mode: Scrape}, false, true, 0, 0, Scraped, 0},
		{"default, there was one", Linger{}, true, true, 0, 0, Scraped, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t, Options{})
				if tt.before {
					scrape(t, s)
				}
				s.Final()
				if tt.between {
					scrape(t, s)
				}
				ctx := t.Context()
				if tt.stop > 0 {
					c, cancel := context.WithTimeout(ctx, tt.stop)
					defer cancel()
					ctx = c
				}
				if tt.after > 0 {
					defer time.AfterFunc(tt.after, func() { scrape(t, s) }).Stop()
				}
				begun, longest := time.Now(), s.Longest(tt.linger)
				if got := s.Linger(ctx, tt.linger); got != tt.want {
					t.Errorf("Linger(%+v) = %v, want %v", tt.linger, got, tt.want)
				}
				if got := time.Since(begun); got != tt.forTime {
					t.Errorf("Linger(%+v) took %v, want %v", tt.linger, got, tt.forTime)
				}
				toTheEnd := tt.want == NoLinger || tt.want == Elapsed || tt.want == Unscraped
				if longest < tt.forTime || toTheEnd && longest != tt.forTime {
					t.Errorf("Longest(%+v) = %v, and it took %v", tt.linger, longest, tt.forTime)
				}
			})
		})
	}
}

// A scrape that is under way when the run ends does not show its totals.
func TestLingerWantsALaterScrape(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, Options{})
		early := stopped{httptest.NewRecorder(), make(chan struct{})}
		go s.handler.ServeHTTP(early, httptest.NewRequest("GET", "/metrics", nil))
		synctest.Wait()
		ended := make(chan LingerEnd, 1)
		s.Final()
		go func() { ended <- s.Linger(t.Context(), Linger{Mode: Scrape}) }()
		synctest.Wait()
		close(early.let)
		synctest.Wait()
		if n := s.Scraped(); n != 1 {
			t.Errorf("%d scrapes, want 1", n)
		}
		select {
		case end := <-ended:
			t.Errorf("Linger returned %v after a scrape that began before it", end)
		default:
		}
		scrape(t, s)
		if end := <-ended; end != Scraped {
			t.Errorf("Linger = %v, want %v", end, Scraped)
		}
	})
}

func TestScraped(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	for _, tt := range []struct {
		name   string
		method string
		path   string
		wrap   func(w http.ResponseWriter) http.ResponseWriter
		want   uint64
	}{
		{"complete", "GET", "/x/y", nil, 1},
		{"head", "HEAD", "/x/y", nil, 0},
		{"post", "POST", "/x/y", nil, 0},
		{"other page", "GET", "/", nil, 0},
		{"no page", "GET", "/metrics", nil, 0},
		{"broken", "GET", "/x/y", func(w http.ResponseWriter) http.ResponseWriter { return failing{w, gone, nil} }, 0},
		{"broken in the end", "GET", "/x/y", func(w http.ResponseWriter) http.ResponseWriter { return failing{w, nil, gone} }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, Options{Path: "/x/y"})
			var w http.ResponseWriter = httptest.NewRecorder()
			if tt.wrap != nil {
				w = tt.wrap(w)
			}
			s.handler.ServeHTTP(w, httptest.NewRequest(tt.method, tt.path, nil))
			if got := s.Scraped(); got != tt.want {
				t.Errorf("%d scrapes, want %d", got, tt.want)
			}
		})
	}
}

func TestWaitScrape(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, Options{})
		why := errors.New("stopped by hand")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Hour, func() { cancel(why) })
		if err := s.WaitScrape(ctx); !errors.Is(err, why) || !strings.HasPrefix(err.Error(), "metrics: waiting for the first scrape: ") {
			t.Errorf("WaitScrape = %v, want one with %v", err, why)
		}
		slow := stopped{httptest.NewRecorder(), make(chan struct{})}
		ended := make(chan error, 1)
		go func() { ended <- s.WaitScrape(t.Context()) }()
		go s.handler.ServeHTTP(slow, httptest.NewRequest("GET", "/metrics", nil))
		synctest.Wait()
		select {
		case err := <-ended:
			t.Errorf("WaitScrape = %v before the scrape has ended", err)
		default:
		}
		close(slow.let)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := s.WaitScrape(t.Context()); err != nil {
			t.Errorf("after a scrape: %v", err)
		}
	})
}

// Nobody waits for scrapes that cannot come.
func TestNothingIsServed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, Options{Listen: []string{":0"}})
		broken, whole := newPipes(io.ErrUnexpectedEOF), newPipes(io.ErrNoProgress)
		s.serve([]net.Listener{broken, whole})
		ended := make(chan error, 1)
		go func() { ended <- s.WaitScrape(t.Context()) }()
		broken.Close()
		err := <-s.Failed()
		if want := `metrics: address "127.0.0.1:9900" is served no more: `; !errors.Is(err, io.ErrUnexpectedEOF) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Failed yields %v, want %s%v", err, want, io.ErrUnexpectedEOF)
		}
		select {
		case err := <-ended:
			t.Errorf("WaitScrape = %v with one listener left", err)
		default:
		}
		whole.Close()
		if err := <-s.Failed(); !errors.Is(err, io.ErrNoProgress) {
			t.Errorf("Failed yields %v, want one with %v", err, io.ErrNoProgress)
		}
		if err, ok := <-s.Failed(); ok {
			t.Errorf("Failed yields %v, want it closed", err)
		}
		if err := <-ended; err == nil || err.Error() != "metrics: waiting for the first scrape: nothing is served" {
			t.Errorf("WaitScrape = %v, want that nothing is served", err)
		}
		if end := s.Linger(t.Context(), Linger{Mode: Scrape}); end != Unserved {
			t.Errorf("Linger = %v, want %v", end, Unserved)
		}
	})
}
