package run

import (
	"fmt"
	"sync/atomic"
	"time"

	"httpgen/client"
	"httpgen/internal/accesslog"
)

// replay is the workload of an access log: the requests of the log in order over
// all calls. A log may be larger than the memory, so each request is read and
// built when it is due.
type replay struct {
	o      *Options
	log    *accesslog.Log
	broken atomic.Pointer[error] // why a request could not be had
	stop   func()                // ends the run then; set before it begins
}

// Begin implements client.Workload.
func (w *replay) Begin(index uint64, s *client.Session) {
	s.Planned = w.o.NumCalls
	s.Seq = index * uint64(s.Planned)
}

// Next implements client.Workload.
func (w *replay) Next(s *client.Session, last *client.Reply) (*client.Request, time.Duration, bool) {
	if s.Pos == w.o.NumCalls {
		return nil, 0, false
	}
	req, err := w.request(s.Index*uint64(w.o.NumCalls) + uint64(s.Pos))
	if err != nil {
		w.broken.CompareAndSwap(nil, &err)
		w.stop()
		return nil, 0, false
	}
	var wait time.Duration
	if last != nil {
		wait = w.o.Pause
	}
	s.Pos++
	return req, wait, true
}

func (w *replay) request(n uint64) (*client.Request, error) {
	e, err := w.log.Request(n)
	if err != nil {
		return nil, err
	}
	q := w.o.request(e.URI)
	q.Method, q.Body = e.Method, nil
	q.Expand = nil
	if e.UserAgent != "" && q.UserAgent == defaultUserAgent {
		q.UserAgent = e.UserAgent
	}
	if e.Referer != "" {
		q.Header = append(q.Header[:len(q.Header):len(q.Header)], client.Header{Name: "Referer", Value: e.Referer})
	}
	req, err := client.NewRequest(q)
	if err != nil {
		return nil, fmt.Errorf("%s: request %d: %w", w.o.From, n+1, trim(err))
	}
	return req, nil
}

// err returns why the log could not be replayed to its end, nil if it was.
func (w *replay) err() error {
	if e := w.broken.Load(); e != nil {
		return *e
	}
	return nil
}
