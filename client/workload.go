package client

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// A Workload says what an arrival does on its connection. One value serves all
// loops at once: its methods must not change it, and keep what belongs to one
// arrival in the Session.
type Workload interface {
	// Begin prepares s for the arrival with that index of the schedule and sets
	// s.Planned.
	Begin(index uint64, s *Session)
	// Next returns the next request and how long to wait before it is sent. last
	// is the reply that came before, nil for the first request and after a
	// request with s.More set. It is not ok when the session is over. Setting
	// s.More asks for another request at once, sent without waiting for the
	// reply to this one.
	Next(s *Session, last *Reply) (req *Request, wait time.Duration, ok bool)
}

// An Observer is a Workload that sees every reply of its sessions, also those of
// a burst. It makes every reply cost a copy of its header, and of its body if
// Body says so.
type Observer interface {
	Workload
	Body() bool
	// Replied is called with each reply and the request that it answers, before
	// Next. It must not keep r.
	Replied(s *Session, req *Request, r *Reply)
}

// A Session is the state of one arrival. Planned and Seq belong to the client;
// the other fields are the workload's own.
type Session struct {
	Index   uint64 // of the arrival in the schedule
	Planned int    // calls that the session makes if nothing fails, set by Begin
	Extra   int    // calls beyond them, to which replies led
	Seq     uint64 // of the next call in the run, which {seq} stands for: set by Begin, then counted by the client
	Server  int    // which target the arrival goes to, 0 is Stream.Target; set by Begin
	Pos     int    // calls asked for so far, kept by the workload
	More    bool   // another request follows at once
	Fail    bool   // an Observer found the arrival to have failed, by a reply that was not as expected
	Data    any    // anything else; nil at Begin
}

// A Reply is a complete reply as a workload sees it.
type Reply struct {
	Status int    // 100 to 999
	Header []byte // header section as it came, for an Observer; up to 64 KiB
	Body   []byte // for an Observer that wants it; its first 4 MiB
}

// The most of a reply that is kept for an Observer, in bytes.
const (
	keptHeader = 64 << 10
	keptBody   = 4 << 20
)

// kept is what an Observer is shown of a reply.
type kept struct {
	header, body []byte
	whole        bool // the body is wanted too
}

func (k *kept) add(part Part, b []byte) {
	switch {
	case part == HeaderPart:
		k.header = append(k.header, b[:min(len(b), keptHeader-len(k.header))]...)
	case part == BodyPart && k.whole:
		k.body = append(k.body, b[:min(len(b), keptBody-len(k.body))]...)
	}
}

func (k *kept) reset() { k.header, k.body = k.header[:0], k.body[:0] }

// Get returns a GET request for an http URL.
func Get(rawURL string) (*Request, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if u.Scheme != "http" || u.Host == "" {
		return nil, fmt.Errorf("client: URL %q: want http://host[:port]/path", rawURL)
	}
	return NewRequest(RequestOptions{URI: u.RequestURI(), Host: strings.TrimSuffix(u.Host, ":80")})
}

// Calls is the plain workload: the same request a number of times on each
// connection, in bursts.
type Calls struct {
	Request *Request      // required
	Calls   int           // calls a connection; default 1
	Burst   int           // calls sent at once, without waiting; default 1
	Pause   time.Duration // between the end of a burst and the next
	Lead    bool          // the first call of a burst goes alone, the others at once when it is answered: httperf's sessions
}

// Begin implements Workload.
func (c *Calls) Begin(index uint64, s *Session) {
	s.Planned = max(1, c.Calls)
	s.Seq = index * uint64(s.Planned)
}

// Next implements Workload.
func (c *Calls) Next(s *Session, last *Reply) (*Request, time.Duration, bool) {
	if s.Pos == s.Planned {
		return nil, 0, false
	}
	wait, more := step(s, last, s.Planned, c.Burst, c.Lead, c.Pause)
	s.More = more
	return c.Request, wait, true
}

// step moves s on by a call of bursts and returns how long to wait before it, and
// whether another one follows at once.
func step(s *Session, last *Reply, planned, burst int, lead bool, pause time.Duration) (wait time.Duration, more bool) {
	begins := burst <= 1 || s.Pos%burst == 0
	if last != nil && begins {
		wait = pause
	}
	s.Pos++
	more = s.Pos < planned && burst > 1 && s.Pos%burst != 0 && !(lead && begins)
	return wait, more
}
