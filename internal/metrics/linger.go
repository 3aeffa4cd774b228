package metrics

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// maxLinger bounds the wait for a last scrape.
const maxLinger = time.Minute

// A Linger says for how long the metrics are served once a run has ended. The
// zero value is Auto.
type Linger struct {
	Mode LingerMode
	For  time.Duration // with Fixed
}

// A LingerMode is what ends a Linger.
type LingerMode uint8

const (
	Auto   LingerMode = iota // Scrape if there was a scrape before, else None
	None                     // it does not begin
	Fixed                    // Linger.For has passed
	Scrape                   // a scrape that began after Final is complete, or a minute has passed
)

// ParseLinger reads "" (Auto), "0" (None), a duration or a number of seconds
// (Fixed), or "scrape".
func ParseLinger(s string) (Linger, error) {
	switch s {
	case "":
		return Linger{}, nil
	case "scrape":
		return Linger{Mode: Scrape}, nil
	}
	text := s
	if strings.Trim(text, "0123456789.") == "" {
		text += "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return Linger{}, fmt.Errorf("metrics: linger %q: want 0, a duration such as 30s, or scrape", s)
	}
	if d == 0 {
		return Linger{Mode: None}, nil
	}
	return Linger{Fixed, d}, nil
}

// A LingerEnd says why a Linger ended.
type LingerEnd uint8

const (
	NoLinger    LingerEnd = iota // none was asked for
	Elapsed                      // its time has passed
	Scraped                      // there was a complete scrape that began after Final
	Unscraped                    // there was none within a minute
	Interrupted                  // the context ended it
	Unserved                     // nothing is served any more
)

// Longest returns for how long Linger would wait at most, 0 for not at all.
func (s *Server) Longest(l Linger) time.Duration {
	switch {
	case l.Mode == None, l.Mode == Auto && s.Scraped() == 0:
		return 0
	case l.Mode == Fixed:
		return l.For
	}
	return maxLinger
}

// Final says that the final totals stand: a scrape that begins from then on
// shows them.
func (s *Server) Final() { s.final.Store(s.scrapes.last()) }

// Linger waits as l says. Final is to be called before.
func (s *Server) Linger(ctx context.Context, l Linger) LingerEnd {
	limit, late := s.Longest(l), Elapsed
	if limit == 0 {
		return NoLinger
	}
	var scraped <-chan struct{} // never, unless a scrape is waited for
	if l.Mode != Fixed {
		late = Unscraped
		scraped = s.scrapes.later(s.final.Load())
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-scraped:
		return Scraped
	case <-timer.C:
		return late
	case <-ctx.Done():
		return Interrupted
	case <-s.ended:
		return Unserved
	}
}

// WaitScrape waits until the first complete scrape has ended. There is an error
// if ctx ends, or the last listener dies, before that.
func (s *Server) WaitScrape(ctx context.Context) error {
	err := errors.New("nothing is served")
	select {
	case <-s.scrapes.later(0):
		return nil
	case <-s.ended:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	return fmt.Errorf("metrics: waiting for the first scrape: %w", err)
}

// Scraped returns how many scrapes were complete so far.
func (s *Server) Scraped() uint64 { return s.scrapes.total() }
