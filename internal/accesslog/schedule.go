package accesslog

import (
	"fmt"
	"io"
	"math/bits"
	"time"
)

// A schedule reads the times of a log.
type schedule struct {
	p     *replay
	in    cursor
	group *group // where the requests are spread

	skip   uint64 // arrivals of other parts before the next of this one
	others uint64 // parts beside this one
	done   bool
	err    error
}

// Next implements pacer.Schedule.
func (s *schedule) Next() (index uint64, at time.Duration, ok bool) {
	for !s.done {
		at, err := s.next()
		if err != nil {
			s.done = true
			if err != io.EOF {
				s.err = err
			}
			break
		}
		if s.skip == 0 {
			s.skip = s.others
			return s.in.n - 1, at, true
		}
		s.skip--
	}
	return 0, 0, false
}

// next returns the next arrival of the whole log, and io.EOF after the last.
func (s *schedule) next() (time.Duration, error) {
	l, c := s.p.l, &s.in
	err := c.next()
	switch {
	case err == io.EOF && c.n == l.n && c.at == l.last && c.skipped == l.skipped:
		return 0, err
	case err != nil:
		return 0, l.reread(c, err)
	case c.n > l.n || c.n == 1 && c.at != l.first || c.at > l.last || c.n%blockSize == 1 && c.begin != l.index[c.n/blockSize]:
		return 0, l.changed(c.begin)
	}
	at := uint64(c.at - l.first)
	if s.group != nil {
		part, err := s.group.place(c)
		if err != nil {
			return 0, err
		}
		at += part
	}
	// The end of the log is within the range, so this is.
	d, _ := s.p.scale(at)
	return d, nil
}

// Err implements pacer.Schedule.
func (s *schedule) Err() error {
	if s.err == nil {
		return nil
	}
	return fmt.Errorf("accesslog: %w", s.err)
}

// A group is the requests of one second. A second cursor goes ahead of the
// schedule's to count them, however many they are.
type group struct {
	l     *Log
	ahead cursor // at the first request behind the group
	over  bool   // there is none
	at    int64  // the second, Unix nanoseconds
	size  uint64
	next  uint64 // number in the group of the next request to be placed
}

func newGroup(l *Log) *group { return &group{l: l, ahead: newCursor(l.file, l.size)} }

// place returns how far into its second the request at c takes place, in
// nanoseconds.
func (g *group) place(c *cursor) (uint64, error) {
	if g.next == g.size {
		if err := g.count(); err != nil {
			return 0, err
		}
	}
	if c.at != g.at {
		return 0, g.l.changed(c.begin)
	}
	hi, lo := bits.Mul64(g.next, 1e9)
	part, _ := bits.Div64(hi, lo, g.size)
	g.next++
	return part, nil
}

// count goes behind the next group.
func (g *group) count() error {
	c := &g.ahead
	if c.n == 0 {
		if err := c.next(); err != nil {
			return g.l.reread(c, err)
		}
	}
	if g.over {
		return g.l.changed(c.begin)
	}
	g.at, g.size, g.next = c.at, 0, 0
	for c.at == g.at {
		g.size++
		err := c.next()
		if err == io.EOF {
			g.over = true
			return nil
		}
		if err != nil {
			return g.l.reread(c, err)
		}
	}
	return nil
}
