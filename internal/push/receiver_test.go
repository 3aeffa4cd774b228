package push

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/snappy"
	"github.com/prometheus/client_golang/prometheus"
)

// A request is what a fakeReceiver was sent.
type request struct {
	at     time.Time
	header http.Header
	url    string
	points []point // nil unless it was remote write
}

// A fakeReceiver answers requests without a network, so that tests run on
// synctest's clock.
type fakeReceiver struct {
	t *testing.T
	// answer is called for each request, which it numbers from 0 on. A status of 0
	// never comes.
	answer func(n int) (status int, header http.Header)

	mu       sync.Mutex
	requests []request
	accepted []point
}

func (f *fakeReceiver) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var points []point
	if r.Header.Get("Content-Encoding") == "snappy" {
		message, err := snappy.Decode(nil, body)
		if err != nil {
			return nil, err
		}
		if points, err = decode(message); err != nil {
			f.t.Errorf("a request cannot be decoded: %v", err)
		}
	}
	f.mu.Lock()
	n := len(f.requests)
	f.requests = append(f.requests, request{time.Now(), r.Header.Clone(), r.URL.String(), points})
	f.mu.Unlock()
	status, header := f.answer(n)
	if status == 0 {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	if status/100 == 2 {
		f.mu.Lock()
		f.accepted = append(f.accepted, points...)
		f.mu.Unlock()
	}
	return &http.Response{
		StatusCode: status, Header: header.Clone(), Request: r,
		Body: io.NopCloser(bytes.NewReader(fmt.Appendf(nil, "reply\x1b %d", n))),
	}, nil
}

// values returns the accepted values of a series in the order they came, "end"
// for the mark.
func (f *fakeReceiver) values(name string) (values []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.accepted {
		switch {
		case p.labels[0].value != name:
		case p.stale():
			values = append(values, "end")
		default:
			values = append(values, fmt.Sprint(p.value))
		}
	}
	return values
}

func (f *fakeReceiver) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.requests)
}

// always answers each request the same.
func always(status int) func(int) (int, http.Header) {
	return func(int) (int, http.Header) { return status, nil }
}

func noEnv(string) string { return "" }

// start makes a Pusher that sends to answer, and a counter that it gathers.
func start(t *testing.T, o Options, answer func(int) (int, http.Header)) (*Pusher, *fakeReceiver, prometheus.Counter) {
	t.Helper()
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: "c_total"})
	r := prometheus.NewRegistry()
	r.MustRegister(c)
	f := &fakeReceiver{t: t, answer: answer}
	if o.Pushgateway == "" {
		o.RemoteWrite = "http://receiver.example/api/v1/write"
	}
	p, err := newPusher(o, r, noEnv, f)
	if err != nil {
		t.Fatal(err)
	}
	return p, f, c
}

// run runs p beside the test.
func run(ctx context.Context, p *Pusher) (done chan struct{}) {
	done = make(chan struct{})
	go func() {
		p.Run(ctx)
		close(done)
	}()
	return done
}
