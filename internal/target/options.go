package target

import (
	"fmt"
	"math"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Values of Options whose zero value means a default.
const (
	NoBody  = -1 // of Options.Size: an empty body
	NoQueue = -1 // of Options.Queue: nothing may wait
)

const (
	defaultListen  = "127.0.0.1:0"
	defaultBacklog = 4096
	defaultSize    = 100
	defaultStatus  = 200
	maxSize        = 64 << 20
)

// Options configures a Server. Every field may be left zero.
type Options struct {
	Listen   string   // "127.0.0.1:8080", "[::1]:0", ":80" (any IPv4 address), "unix:/path", "unix:@abstract"; port 0 is any free one; default "127.0.0.1:0"
	Service  Service  // how long a worker is busy with a request; default none
	Workers  int      // requests served at once; 0 means any number
	Capacity float64  // requests whose service starts per second, with up to ten more after a time with fewer; 0 means any number. Not with Workers
	Collapse Collapse // what becomes of Capacity, a whole number then, under overload; default nothing. Then no request may wait by default
	Shares   []Share  // weights of the sources, which then have a queue each; sources that are not listed weigh 1. Wants a Capacity, or Workers and a Service
	Backlog  int      // connections that the kernel may keep for Accept, as in listen(2), which caps it; default 4096
	Queue    int      // requests that may wait for their service; 0 means any number, NoQueue none. With Shares those of each source, default 32
	Overload Overload // what happens to a request that finds the queue full; with Shares or a Collapse always Reset
	Size     int      // bytes of a reply's body, at most 64 MiB; default 100, NoBody for none
	Status   int      // of a reply, 200 to 599; default 200. 204 and 304 have no body, whatever Size says
	Freeze   []Freeze // when the server does nothing at all; in order, apart from each other
	Silent   bool     // read requests, never answer
	Deaf     bool     // never accept a connection
	Close    bool     // end every connection after its first reply; otherwise the client decides
	Seed     uint64   // of exponential service times
}

// A Service is a distribution of service times. The zero value takes no time.
type Service struct {
	mean        time.Duration
	exponential bool
}

// Constant returns a service that always takes d; 0 is none.
func Constant(d time.Duration) Service { return Service{mean: d} }

// Exponential returns a service of exponentially distributed times.
func Exponential(mean time.Duration) Service { return Service{mean: mean, exponential: true} }

// ParseService reads "10ms" (constant), "exp:10ms" (exponential with that
// mean) or "0".
func ParseService(s string) (Service, error) {
	text, exponential := strings.CutPrefix(s, "exp:")
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return Service{}, fmt.Errorf(`target: service time %q: want a duration such as "10ms", "exp:10ms" or "0"`, s)
	}
	return Service{mean: d, exponential: exponential}, nil
}

// String returns s in the form that ParseService reads.
func (s Service) String() string {
	if s.exponential {
		return "exp:" + s.mean.String()
	}
	return s.mean.String()
}

// A Freeze is a time in which the server does nothing: it neither accepts,
// reads, nor writes, and services under way last longer by Length.
type Freeze struct {
	Length time.Duration // how long it lasts
	At     time.Duration // when it starts, from the first accepted connection
}

// ParseFreeze reads LENGTH@START, as in "1s@2s".
func ParseFreeze(s string) (Freeze, error) {
	length, at, ok := strings.Cut(s, "@")
	var f Freeze
	if ok {
		var err, err2 error
		f.Length, err = time.ParseDuration(length)
		f.At, err2 = time.ParseDuration(at)
		ok = err == nil && err2 == nil && f.Length > 0 && f.At >= 0
	}
	if !ok {
		return Freeze{}, fmt.Errorf(`target: freeze %q: want LENGTH@START, such as "1s@2s"`, s)
	}
	return f, nil
}

// String returns f in the form that ParseFreeze reads.
func (f Freeze) String() string { return f.Length.String() + "@" + f.At.String() }

// Overload says what happens to a request that cannot be served yet when the
// queue is full.
type Overload uint8

const (
	// Reject answers 503.
	Reject Overload = iota
	// Reset ends the connection with a reset.
	Reset
	// AcceptLate has no queue of its own: a connection is accepted only when a
	// worker is free and then has that worker to itself until its first reply,
	// as in a server of so many threads. The others stay in the kernel's queue,
	// which drops what exceeds the backlog. A connection that sends no complete
	// request for a second is closed. Later requests of open connections and
	// new connections take turns at the workers.
	AcceptLate
)

var overloadNames = [...]string{"reject", "reset", "accept"}

// ParseOverload reads "reject", "reset" or "accept".
func ParseOverload(s string) (Overload, error) {
	i := slices.Index(overloadNames[:], s)
	if i < 0 {
		return 0, fmt.Errorf("target: overload %q: want reject, reset or accept", s)
	}
	return Overload(i), nil
}

// String returns o in the form that ParseOverload reads.
func (o Overload) String() string {
	if int(o) < len(overloadNames) {
		return overloadNames[o]
	}
	return fmt.Sprintf("Overload(%d)", uint8(o))
}

// validate fills the defaults and returns the first mistake.
func (o *Options) validate() error {
	if o.Listen == "" {
		o.Listen = defaultListen
	}
	if o.Backlog == 0 {
		o.Backlog = defaultBacklog
	}
	if o.Size == 0 {
		o.Size = defaultSize
	}
	if o.Status == 0 {
		o.Status = defaultStatus
	}
	switch {
	case o.Service.mean < 0:
		return fmt.Errorf("target: service time %v: want 0 or more", o.Service)
	case o.Workers < 0:
		return fmt.Errorf("target: workers %d: want 0 or more", o.Workers)
	case o.Backlog < 0:
		return fmt.Errorf("target: backlog %d: want 0 or more", o.Backlog)
	case o.Queue < NoQueue:
		return fmt.Errorf("target: queue %d: want 0 or more, or %d for none", o.Queue, NoQueue)
	case int(o.Overload) >= len(overloadNames):
		return fmt.Errorf("target: overload %v: want reject, reset or accept", o.Overload)
	case o.Overload == AcceptLate && o.Workers == 0:
		return fmt.Errorf("target: overload %v: wants a number of workers", o.Overload)
	case o.Overload == AcceptLate && o.Queue != 0:
		return fmt.Errorf("target: queue %d: overload %v leaves waiting to the kernel, set the backlog", o.Queue, o.Overload)
	case o.Capacity != 0 && !(o.Capacity >= minCapacity && o.Capacity <= maxCapacity): // nor NaN
		return fmt.Errorf("target: capacity %v: want %v to %d requests per second, or 0 for any number", o.Capacity, minCapacity, maxCapacity)
	case o.Capacity > 0 && o.Workers > 0:
		return fmt.Errorf("target: capacity %v with %d workers: want one of them", o.Capacity, o.Workers)
	case o.Size < NoBody || o.Size > maxSize:
		return fmt.Errorf("target: size %d: want 0 to %d bytes, or %d for none", o.Size, maxSize, NoBody)
	case o.Status < 200 || o.Status > 599:
		return fmt.Errorf("target: status %d: want 200 to 599", o.Status)
	}
	if o.Size == NoBody {
		o.Size = 0
	}
	if err := o.validateShares(); err != nil {
		return err
	}
	if err := o.validateCollapse(); err != nil {
		return err
	}
	o.Freeze = slices.Clone(o.Freeze)
	var end time.Duration
	for _, f := range o.Freeze {
		if f.Length <= 0 || f.At < end {
			return fmt.Errorf("target: freeze %v: want a length, and a start of %v or later", f, end)
		}
		end = f.At + f.Length
	}
	return nil
}

// validateShares is the part of validate that is about Shares.
func (o *Options) validateShares() error {
	if len(o.Shares) == 0 {
		return nil
	}
	switch {
	case o.Capacity == 0 && (o.Workers == 0 || o.Service.mean == 0):
		return fmt.Errorf("target: shares %v: want a capacity, or workers and a service time: nothing is short otherwise", o.Shares)
	case o.Overload == AcceptLate:
		return fmt.Errorf("target: shares %v: overload %v leaves waiting to the kernel, which has no shares", o.Shares, o.Overload)
	case o.Queue == NoQueue:
		return fmt.Errorf("target: shares %v: want a queue: nobody takes turns otherwise", o.Shares)
	case strings.HasPrefix(o.Listen, "unix:"):
		return fmt.Errorf("target: shares %v: listen %q: its clients have no addresses", o.Shares, o.Listen)
	}
	if o.Queue == 0 {
		o.Queue = defaultQueue
	}
	o.Overload = Reset
	o.Shares = slices.Clone(o.Shares)
	return validateShares(o.Shares)
}

// validateCollapse is the part of validate that is about Collapse. It comes
// after that about Shares.
func (o *Options) validateCollapse() error {
	switch {
	case o.Collapse == Collapse{}:
		return nil
	case o.Capacity == 0:
		return fmt.Errorf("target: collapse %v: want a capacity", o.Collapse)
	case o.Capacity != math.Trunc(o.Capacity):
		// As many come in a second as that only on average.
		return fmt.Errorf("target: collapse %v of capacity %v: want a whole number of requests per second", o.Collapse, o.Capacity)
	}
	if o.Queue == 0 {
		o.Queue = NoQueue
	}
	o.Overload = Reset
	return o.Collapse.validate()
}

// parseListen takes a listen address apart: either path or ap is set.
func parseListen(s string) (path string, ap netip.AddrPort, err error) {
	if path, ok := strings.CutPrefix(s, "unix:"); ok {
		return path, ap, nil
	}
	a, err := net.ResolveTCPAddr("tcp", s)
	if err != nil {
		return "", ap, fmt.Errorf("target: listen %q: %w", s, err)
	}
	if a.IP == nil {
		a.IP = net.IPv4zero
	}
	ap = a.AddrPort()
	return "", netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()), nil
}
