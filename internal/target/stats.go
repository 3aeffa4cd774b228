package target

import (
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// maxSources bounds the sources that Stats prints.
const maxSources = 64

// Counters count what happened to the connections of one source, or of all.
type Counters struct {
	Accepted  uint64 // connections
	Requests  uint64 // complete requests read
	Replies   uint64 // ordinary replies, handed whole to the kernel
	Rejected  uint64 // requests refused for want of room: answered 503 or reset
	Resets    uint64 // the part of Rejected that was reset
	Bad       uint64 // connections ended with 400: what they sent is not a request
	Abandoned uint64 // requests whose connection broke before the reply was handed over
	BytesIn   uint64 // read from sockets
	BytesOut  uint64 // handed to sockets
}

// Unanswered returns the requests that still waited for their end when the
// counters were read. Every request is a reply, rejected, abandoned or
// unanswered.
func (c Counters) Unanswered() uint64 {
	return c.Requests - c.Replies - c.Rejected - c.Abandoned
}

func (c *Counters) add(d *Counters) {
	c.Accepted += d.Accepted
	c.Requests += d.Requests
	c.Replies += d.Replies
	c.Rejected += d.Rejected
	c.Resets += d.Resets
	c.Bad += d.Bad
	c.Abandoned += d.Abandoned
	c.BytesIn += d.BytesIn
	c.BytesOut += d.BytesOut
}

// Stats says what a server did so far.
type Stats struct {
	Counters                            // of all sources
	Sources     map[netip.Addr]Counters // by the client's address; the zero Addr stands for a unix socket's clients
	Open        int                     // connections now
	Waiting     int                     // requests that wait for their service now
	PeakWaiting int                     // the largest Waiting there was
	Starved     uint64                  // times that a connection could not be accepted for want of a descriptor or memory
	Served      uint64                  // services that ended while all workers were busy, also of clients that had gone; with a capacity, that started in Saturated
	Saturated   time.Duration           // time in which all workers were busy, up to the last service that ended; with a capacity, in which all of it was asked for
	Capacity    float64                 // Options.Capacity
	Lowest      float64                 // what a collapse left of it at worst, per second
	Collapses   int                     // times that it collapsed
	LateMean    time.Duration           // how long after its instant the end of a service was handled
	LateMax     time.Duration           // the longest of these
	Err         error                   // why the server ended by itself; nil otherwise
}

// Rate returns the services per second that the server reached while it was
// saturated: its capacity. It is 0 when that never was the case.
func (s Stats) Rate() float64 {
	if s.Saturated <= 0 {
		return 0
	}
	return float64(s.Served) / s.Saturated.Seconds()
}

// String returns the text that WriteTo writes.
func (s Stats) String() string {
	var b strings.Builder
	s.WriteTo(&b)
	return b.String()
}

// WriteTo writes s as a block of lines, the last ones a table of the sources.
func (s Stats) WriteTo(w io.Writer) (int64, error) {
	var b []byte
	b = fmt.Appendf(b, "connections: accepted %d open %d bad %d starved %d\n", s.Accepted, s.Open, s.Bad, s.Starved)
	b = fmt.Appendf(b, "requests: %d replies %d rejected %d (%d reset) abandoned %d unanswered %d\n",
		s.Requests, s.Replies, s.Rejected, s.Resets, s.Abandoned, s.Unanswered())
	b = fmt.Appendf(b, "bytes: received %d sent %d\n", s.BytesIn, s.BytesOut)
	b = fmt.Appendf(b, "waiting: peak %d\n", s.PeakWaiting)
	b = fmt.Appendf(b, "late [ms]: mean %.3f max %.3f\n", ms(s.LateMean), ms(s.LateMax))
	if s.Saturated > 0 {
		b = fmt.Appendf(b, "saturated: %d replies in %.3f s = %.1f replies/s\n", s.Served, s.Saturated.Seconds(), s.Rate())
	} else {
		b = fmt.Append(b, "saturated: never\n")
	}
	if s.Capacity > 0 {
		b = fmt.Appendf(b, "capacity: %.1f/s lowest %.1f/s collapses %d\n", s.Capacity, s.Lowest, s.Collapses)
	}
	if s.Err != nil {
		b = fmt.Appendf(b, "ended: %v\n", s.Err)
	}
	b = s.appendSources(b)
	n, err := w.Write(b)
	return int64(n), err
}

func (s Stats) appendSources(b []byte) []byte {
	if len(s.Sources) == 0 {
		return b
	}
	sources := make([]netip.Addr, 0, len(s.Sources))
	for ip := range s.Sources {
		sources = append(sources, ip)
	}
	slices.SortFunc(sources, netip.Addr.Compare)
	shown := sources[:min(len(sources), maxSources)]
	width := len("source")
	for _, ip := range shown {
		width = max(width, len(sourceName(ip)))
	}
	b = fmt.Appendf(b, "%-*s %10s %10s %10s %10s\n", width, "source", "accepted", "requests", "replies", "rejected")
	for _, ip := range shown {
		c := s.Sources[ip]
		b = fmt.Appendf(b, "%-*s %10d %10d %10d %10d\n", width, sourceName(ip), c.Accepted, c.Requests, c.Replies, c.Rejected)
	}
	if more := len(sources) - len(shown); more > 0 {
		b = fmt.Appendf(b, "and %d more\n", more)
	}
	return b
}

func sourceName(ip netip.Addr) string {
	if !ip.IsValid() {
		return "unix"
	}
	return ip.String()
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
