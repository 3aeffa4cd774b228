package client

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"net/netip"
	"time"

	"httpgen/pacer"
	"httpgen/sampler"
)

// Options configures a Client. Every field but Streams may be left zero.
type Options struct {
	Streams     []Stream
	Loops       int           // goroutines, each with its own thread; default 1
	Machine     int           // which part of a fleet this is, from 0
	Machines    int           // parts of the fleet; default 1
	Start       time.Time     // when the run begins; the zero time means at once
	Warmup      time.Duration // arrivals intended before are kept apart
	Window      time.Duration // base interval of the windows; default 1 s
	Merge       int           // base intervals that make one sample; default 1
	Spin        time.Duration // polls instead of sleeping this long before an arrival; negative means never, default 100 us
	CatchUp     pacer.CatchUp // what becomes of arrivals that the generator owes after a stall
	MaxInflight int           // arrivals open at once, all loops together; default what descriptors allow
	Drain       time.Duration // how long to wait after the last start; default 30 s
	Owed        time.Duration // how long after the planned end owed arrivals still start; default Drain
	StopDrain   time.Duration // how long to wait after Run's context ended; default 4 s, at most Drain
	Tap         Tap           // sees the bytes of every call; nil measures undisturbed

	portable bool // the net engine, for tests
}

// A Stream is one logical client of a run. Process or Closed, Target and
// Workload are required.
type Stream struct {
	Name          string        // default its number, from 1
	Process       pacer.Process // when arrivals are due
	PlannedEnd    time.Duration // owed arrivals start for at most Options.Owed after it; 0 means the process's last arrival
	Seed          uint64        // of a random process
	Closed        int           // closed model instead of Process: this many arrivals open at all times
	Limit         uint64        // closed model: arrivals in all; 0 means no limit
	KeepOpen      bool          // closed model: go on with the connection of the last arrival where it may be
	For           time.Duration // closed model: start none after this; 0 means no limit
	Target        Target
	Others        []Target // further targets, of which Workload chooses with Session.Server
	Workload      Workload
	Sessions      *Sessions    // arrivals are sessions; nil makes an arrival one connection
	HTTP2         bool         // speak HTTP/2, by agreement over TLS and by prior knowledge in the clear; its requests want RequestOptions.HTTP2
	MaxStreams    int          // calls at once on a pooled connection over HTTP/2, within what the server allows; default 100
	TLS           *tls.Config  // speak TLS so; nil is in the clear. Its ServerName must be set
	Pool          int          // connections kept open; an arrival is one session on one of them. 0 opens one an arrival
	Backlog       int          // arrivals that may wait for a pooled connection; default 65536
	Sources       []netip.Addr // local addresses, taken in turn; none lets the kernel choose
	Hog           bool         // choose local ports 1024 to 65535 here instead of the kernel's range
	Timeouts      Timeouts
	CloseReset    bool                  // end connections with a reset, which leaves no TIME_WAIT
	SendBuffer    int                   // bytes; 0 leaves it to the kernel
	ReceiveBuffer int                   // bytes; 0 leaves it to the kernel
	MaxHeader     int                   // bytes of a reply's header section; default 64 KiB
	Expect        func(status int) bool // which replies are as expected; nil means all
}

// A Target is where connections go: some addresses of one name, or a unix
// socket.
type Target struct {
	Addrs []netip.AddrPort // tried in order when one refuses; the one that worked last comes first
	Unix  string           // path of a unix socket; "@" begins an abstract name
	Name  string           // the server's name for TLS; default that of Stream.TLS
}

// Sessions says that an arrival is a session, which may use several connections
// and goes on with a new one when the server has closed one between two replies.
// Calls that it left without an answer are made again where they can be made
// twice. The zero value has httperf's limits.
type Sessions struct {
	MaxConns int                   // connections at once; default 4
	MaxPiped int                   // calls under way on one connection; default 32
	Fail     func(status int) bool // replies that make the session fail; nil means none
	Retry    bool                  // calls that failed are made again; after ten failures in a row the session fails
}

// Timeouts bound the phases of a call. 0 means no bound.
type Timeouts struct {
	Connect  time.Duration // from connect() to established
	Send     time.Duration // from the first byte of a request to its last
	Reply    time.Duration // from the last byte of a request to the last of its reply, also while it progresses
	Deadline time.Duration // from the intended start of a call to the end of its reply
}

// A Tap sees calls as they go over the wire. All loops call it at once.
type Tap interface {
	// Request is called when a request was sent whole. Calls are numbered from 0
	// in the order in which their requests were.
	Request(call uint64, data []byte)
	// Reply is called for each piece of a reply, and with done set, without
	// data, when it is complete.
	Reply(call uint64, part Part, data []byte, done bool)
}

// Part names a section of a reply.
type Part uint8

// The sections of a reply.
const (
	HeaderPart Part = iota
	BodyPart
	TrailerPart
)

func (o *Options) validate() error {
	if len(o.Streams) == 0 {
		return fmt.Errorf("client: no streams: want at least one")
	}
	for _, f := range []struct {
		name  string
		value *int
		def   int
	}{{"Loops", &o.Loops, 1}, {"Machines", &o.Machines, 1}} {
		if *f.value == 0 {
			*f.value = f.def
		}
		if *f.value < 1 {
			return fmt.Errorf("client: %s %d: want at least 1", f.name, *f.value)
		}
	}
	if o.Machine < 0 || o.Machine >= o.Machines {
		return fmt.Errorf("client: machine %d of %d: want 0 to %d", o.Machine, o.Machines, o.Machines-1)
	}
	if o.Window == 0 {
		o.Window = time.Second
	}
	if o.Drain == 0 {
		o.Drain = 30 * time.Second
	}
	if o.StopDrain == 0 {
		o.StopDrain = 4 * time.Second // less than the 5 s that those who stop programs give them as a rule
	}
	o.StopDrain = min(o.StopDrain, o.Drain)
	if o.Owed == 0 {
		o.Owed = o.Drain
	}
	switch {
	case o.Spin == 0:
		o.Spin = 100 * time.Microsecond
	case o.Spin < 0:
		o.Spin = 0
	}
	if o.Window < 0 || o.Warmup < 0 || o.Drain < 0 || o.Owed < 0 || o.MaxInflight < 0 {
		return fmt.Errorf("client: window %v, warm-up %v, drain %v, bound %d: want none below 0", o.Window, o.Warmup, o.Drain, o.MaxInflight)
	}
	o.Streams = append([]Stream(nil), o.Streams...)
	for i := range o.Streams {
		s := &o.Streams[i]
		if s.Name == "" {
			s.Name = fmt.Sprint(i + 1)
		}
		if err := s.validate(); err != nil {
			return fmt.Errorf("client: stream %s: %w", s.Name, err)
		}
	}
	return nil
}

func (s *Stream) validate() error {
	switch {
	case s.Process == nil && s.Closed == 0:
		return fmt.Errorf("neither process nor closed model: want one of them")
	case s.MaxStreams < 0 || s.MaxStreams > 0 && (!s.HTTP2 || s.Pool == 0):
		return fmt.Errorf("%d calls at once on a connection: want 0 or more, and a pool over HTTP/2", s.MaxStreams)
	case s.Closed > 0 && s.Pool > 0 && !s.HTTP2:
		return fmt.Errorf("closed model and a pool over HTTP/1: want one of them")
	case s.Process != nil && s.Closed != 0:
		return fmt.Errorf("a process and a closed model: want one of them")
	case s.Closed < 0 || s.Pool < 0 || s.Backlog < 0 || s.MaxHeader < 0:
		return fmt.Errorf("closed %d, pool %d, backlog %d, header limit %d: want none below 0", s.Closed, s.Pool, s.Backlog, s.MaxHeader)
	case s.Workload == nil:
		return fmt.Errorf("no Workload")
	case len(s.Target.Addrs) == 0 && s.Target.Unix == "":
		return fmt.Errorf("no target: want addresses or a unix socket")
	case len(s.Target.Addrs) > 0 && s.Target.Unix != "":
		return fmt.Errorf("target has addresses and a unix socket %q: want one of them", s.Target.Unix)
	}
	for i, t := range s.Others {
		if len(t.Addrs) == 0 || t.Unix != "" || s.Target.Unix != "" {
			return fmt.Errorf("target %d of several: want addresses and no unix socket", i+2)
		}
	}
	if len(s.Others) > 0 && s.Pool > 0 {
		return fmt.Errorf("a pool of %d connections to %d targets: want one target", s.Pool, 1+len(s.Others))
	}
	if s.Sessions != nil {
		if s.Pool > 0 || s.KeepOpen {
			return fmt.Errorf("sessions on kept-open connections: a session opens its own")
		}
		o := *s.Sessions
		s.Sessions = &o
		if o.MaxConns < 0 || o.MaxPiped < 0 {
			return fmt.Errorf("sessions with %d connections of %d calls: want none below 0", o.MaxConns, o.MaxPiped)
		}
		s.Sessions.MaxConns = cmp.Or(o.MaxConns, 4)
		s.Sessions.MaxPiped = cmp.Or(o.MaxPiped, 32)
	}
	if s.Backlog == 0 {
		s.Backlog = 1 << 16
	}
	s.MaxStreams = cmp.Or(s.MaxStreams, defaultStreams)
	if s.MaxHeader == 0 {
		s.MaxHeader = 64 << 10
	}
	for _, t := range []time.Duration{s.Timeouts.Connect, s.Timeouts.Send, s.Timeouts.Reply, s.Timeouts.Deadline} {
		if t < 0 {
			return fmt.Errorf("timeout %v: want 0 or more", t)
		}
	}
	return nil
}

// loops returns over how many of the client's loops a stream is spread.
func (s *Stream) loops(all int) int {
	n := all
	if s.Pool > 0 {
		n = min(n, s.Pool)
	}
	if s.Closed > 0 {
		n = min(n, s.Closed)
	}
	return n
}

// share returns how many of n things belong to loop i of loops.
func share(n, i, loops int) int {
	if i >= loops {
		return 0
	}
	k := n / loops
	if i < n%loops {
		k++
	}
	return k
}

// A Result is what a run did.
type Result struct {
	*sampler.Result
	Started  time.Time     // when the schedule began
	Sending  time.Duration // from then to the end of sending: the planned end, or the stop
	Total    time.Duration // from then to the end of the last connection
	Starting time.Duration // from then to the last start of an arrival
	Stopped  bool          // the context ended the run
	Stalled  bool          // a closed model was given up: its callers waited for ever
	User     time.Duration // processor time of the process during the run
	System   time.Duration
	Spin     time.Duration // as used

	TLSFailures []TLSFailures // one a stream
}
