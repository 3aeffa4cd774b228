package client

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"httpgen/internal/http1"
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

// A Session is the state of one arrival. Planned belongs to the accounting;
// the other fields are the workload's own.
type Session struct {
	Index   uint64 // of the arrival in the schedule
	Planned int    // calls that the session makes if nothing fails
	Pos     int    // calls asked for so far, kept by the workload
	More    bool   // another request follows at once
	Data    any    // anything else; nil at Begin
}

// A Reply is a complete reply as a workload sees it.
type Reply struct {
	Status int // 100 to 999
}

// A Request is built once and sent any number of times.
type Request struct {
	bytes []byte
	head  bool
}

// Bytes returns the request as it is sent. The caller must not change it.
func (r *Request) Bytes() []byte { return r.bytes }

// A Header is one header line of a request.
type Header struct{ Name, Value string }

// RequestOptions describes a request. Every field but Host may be left zero.
type RequestOptions struct {
	Method    string   // default GET; exactly "HEAD" expects no body
	URI       string   // as sent in the request line; default "/"
	Host      string   // the Host header's value, with the port where it is not the default
	NoHost    bool     // send no Host header
	HTTP10    bool     // speak HTTP/1.0 and ask to keep the connection
	UserAgent string   // default "httpgen"
	Header    []Header // further headers; they replace defaults of the same name
	Body      []byte
}

// NewRequest builds a request.
func NewRequest(o RequestOptions) (*Request, error) {
	h := http1.Request{Method: o.Method, URI: o.URI, Host: o.Host, NoHost: o.NoHost, UserAgent: o.UserAgent, Body: o.Body}
	if o.HTTP10 {
		h.Version = "1.0"
	}
	if h.UserAgent == "" {
		h.UserAgent = "httpgen"
	}
	for _, f := range o.Header {
		h.Header = append(h.Header, http1.Field{Name: f.Name, Value: f.Value})
	}
	b, err := h.Append(nil)
	if err != nil {
		return nil, fmt.Errorf("client: request: %w", err)
	}
	return &Request{bytes: b, head: o.Method == "HEAD"}, nil
}

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
}

// Begin implements Workload.
func (c *Calls) Begin(index uint64, s *Session) { s.Planned = max(1, c.Calls) }

// Next implements Workload.
func (c *Calls) Next(s *Session, last *Reply) (*Request, time.Duration, bool) {
	if s.Pos == s.Planned {
		return nil, 0, false
	}
	var wait time.Duration
	if last != nil {
		wait = c.Pause
	}
	s.Pos++
	s.More = s.Pos < s.Planned && c.Burst > 1 && s.Pos%c.Burst != 0
	return c.Request, wait, true
}
