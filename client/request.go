package client

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"httpgen/internal/http1"
	"httpgen/internal/http2"
)

// A Request is built once and sent any number of times.
type Request struct {
	bytes      []byte
	end        int            // of the header section in bytes
	h2         *http2.Request // for HTTP/2; nil: it goes over HTTP/1
	scheme     string         // for HTTP/2; empty: it goes over HTTP/1
	host       string         // value of the Host header, empty without one
	head       bool
	idempotent bool
	expand     *Expand
	parts      []part // of the header section, where it is expanded for each call

	// Of Browse.
	plain     *Request // the same without cookies, nil if it has none
	object    bool     // of a page
	redirects int      // in a row that led to it
}

// Bytes returns the request as it is sent, unexpanded. The caller must not change
// it.
func (r *Request) Bytes() []byte { return r.bytes }

// sent returns the request as it was sent in those bytes.
func (r *Request) sent(b []byte) *Request {
	if r.parts == nil {
		return r
	}
	s := *r
	s.parts, s.expand = nil, nil
	s.bytes, s.end = slices.Clone(b), len(b)-(len(r.bytes)-r.end)
	return &s
}

// URI returns the request target.
func (r *Request) URI() string {
	line, _, _ := bytes.Cut(r.bytes, []byte("\r\n"))
	_, rest, _ := bytes.Cut(line, []byte(" "))
	uri, _, _ := bytes.Cut(rest, []byte(" "))
	return string(uri)
}

// With returns a request that is the same but for one more header line, in which
// placeholders are not replaced.
func (r *Request) With(h Header) (*Request, error) {
	line := []byte(h.Name + ": " + h.Value + "\r\n")
	f, err := http1.SplitFields(line)
	if err != nil || len(f) != 1 || f[0].Name != h.Name {
		return nil, fmt.Errorf("client: header %q: want a name and a value without line ends", h.Name)
	}
	n := *r
	at := r.end - len("\r\n")
	n.bytes = slices.Concat(r.bytes[:at], line, r.bytes[at:])
	n.end = r.end + len(line)
	if r.parts != nil {
		n.parts = slices.Clone(r.parts)
		last := &n.parts[len(n.parts)-1]
		last.text = n.bytes[r.end-len(last.text) : n.end]
	}
	if n.scheme != "" {
		if n.h2, err = h2Form(n.bytes, n.end, n.scheme); err != nil {
			return nil, fmt.Errorf("client: header %q: %w", h.Name, err)
		}
	}
	return &n, nil
}

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
	HTTP2     string  // scheme of a request that goes over HTTP/2, "http" or "https"; empty: it goes over HTTP/1
	Expand    *Expand // replaces {seq}, {rand} and {client} in the URI and in Header; nil leaves them as they are
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
		if strings.EqualFold(f.Name, "Host") {
			o.Host = strings.TrimSpace(f.Value)
		}
	}
	b, err := h.Append(nil)
	if err != nil {
		return nil, fmt.Errorf("client: request: %w", err)
	}
	r := &Request{bytes: b, host: o.Host, end: len(b) - len(o.Body), head: o.Method == "HEAD", idempotent: idempotent(o.Method)}
	if r.expand = o.Expand; r.expand != nil {
		r.parts = r.expand.split(b[:r.end], 0)
	}
	if r.scheme = o.HTTP2; r.scheme != "" {
		if r.h2, err = h2Form(r.bytes, r.end, r.scheme); err != nil {
			return nil, fmt.Errorf("client: request: %w", err)
		}
	}
	return r, nil
}

// idempotent says whether a request may be sent twice (RFC 9110, 9.2.2).
func idempotent(method string) bool {
	switch method {
	case "", "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE":
		return true
	}
	return false
}
