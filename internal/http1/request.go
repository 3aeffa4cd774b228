package http1

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// A Field is one header line.
type Field struct {
	Name  string
	Value string
}

// A Request is what a call sends. Every field may be left zero.
type Request struct {
	Method    string  // a token, sent as it is ("head" is not HEAD); default GET
	URI       string  // request target, without blanks or control characters; default /
	Version   string  // "1.1" or "1.0"; default 1.1. With 1.0 "Connection: keep-alive" is sent
	UserAgent string  // value of User-Agent; empty: the field is not sent
	Host      string  // value of Host, as HostHeader makes it
	NoHost    bool    // leave Host out
	Header    []Field // more fields; one of them replaces what is sent by default under its name
	Body      []byte  // sent with Content-Length, unless Header has Transfer-Encoding
}

// Append appends the request to dst as it goes over the wire. It is meant to be
// called once for bytes that are sent many times. The order is request line,
// User-Agent, Host, Connection, Content-Length, Header, body. An error names and
// quotes what was wrong; dst is then returned as it was.
func (r *Request) Append(dst []byte) ([]byte, error) {
	q := *r
	if err := q.validate(); err != nil {
		return dst, err
	}
	dst = append(dst, q.Method...)
	dst = append(dst, ' ')
	dst = append(dst, q.URI...)
	dst = append(dst, " HTTP/"...)
	dst = append(dst, q.Version...)
	dst = append(dst, "\r\n"...)
	if q.UserAgent != "" && !q.has("User-Agent") {
		dst = appendField(dst, "User-Agent", q.UserAgent)
	}
	if !q.NoHost && !q.has("Host") {
		dst = appendField(dst, "Host", q.Host)
	}
	if q.Version == "1.0" && !q.has("Connection") {
		dst = appendField(dst, "Connection", "keep-alive")
	}
	if q.sendsLength() {
		dst = appendField(dst, "Content-Length", strconv.Itoa(len(q.Body)))
	}
	for _, f := range q.Header {
		dst = appendField(dst, f.Name, f.Value)
	}
	dst = append(dst, "\r\n"...)
	return append(dst, q.Body...), nil
}

// sendsLength reports whether Content-Length is sent by default: with a body,
// and without one where the method expects one (RFC 9110, 8.6), but never beside
// Transfer-Encoding (RFC 9112, 6.2).
func (r *Request) sendsLength() bool {
	if r.has("Content-Length") || r.has("Transfer-Encoding") {
		return false
	}
	switch r.Method {
	case "POST", "PUT", "PATCH":
		return true
	}
	return len(r.Body) > 0
}

// has reports whether Header has a field of that name, in any case.
func (r *Request) has(name string) bool {
	return slices.ContainsFunc(r.Header, func(f Field) bool { return strings.EqualFold(f.Name, name) })
}

// validate fills defaults and returns the first error: methods and field names
// are tokens (RFC 9110, 9.1 and 5.1), a request target has no blanks
// (RFC 9112, 3.2), and no value ends its line (RFC 9110, 5.5).
func (r *Request) validate() error {
	r.Method = cmp.Or(r.Method, "GET")
	r.URI = cmp.Or(r.URI, "/")
	r.Version = cmp.Or(r.Version, "1.1")
	switch {
	case !token(r.Method):
		return fmt.Errorf("http1: method %q: want a token such as GET", r.Method)
	case !unbroken(r.URI):
		return fmt.Errorf("http1: URI %q: want no blanks or control characters", r.URI)
	case r.Version != "1.0" && r.Version != "1.1":
		return fmt.Errorf("http1: version %q: want 1.0 or 1.1", r.Version)
	case !unbroken(r.Host):
		return fmt.Errorf("http1: host %q: want no blanks or control characters", r.Host)
	}
	if err := checkField(Field{"User-Agent", r.UserAgent}); err != nil {
		return fmt.Errorf("http1: %w", err)
	}
	for _, f := range r.Header {
		if err := checkField(f); err != nil {
			return fmt.Errorf("http1: %w", err)
		}
	}
	return nil
}

// checkField returns what is wrong with f, without the package as a prefix.
func checkField(f Field) error {
	if !token(f.Name) {
		return fmt.Errorf("header name %q: want a token such as Accept", f.Name)
	}
	if strings.ContainsAny(f.Value, "\r\n\x00") {
		return fmt.Errorf("header %s: value with CR, LF or NUL: want none of them", f.Name)
	}
	return nil
}

func appendField(dst []byte, name, value string) []byte {
	dst = append(dst, name...)
	dst = append(dst, ": "...)
	dst = append(dst, value...)
	return append(dst, "\r\n"...)
}

// token reports whether s is a token (RFC 9110, 5.6.2).
func token(s string) bool {
	for i := range len(s) {
		if !isToken[s[i]] {
			return false
		}
	}
	return s != ""
}

// unbroken reports whether s has neither blanks nor control characters.
func unbroken(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

// HostHeader returns the value of Host for a server at host and port
// (RFC 9110, 7.2). An IPv6 address is put in brackets, without its zone, which
// means nothing to the server. The port is left out when it is defaultPort or
// not positive.
func HostHeader(host string, port, defaultPort int) string {
	bare := strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if a, err := netip.ParseAddr(bare); err == nil && a.Is6() {
		host = "[" + a.WithZone("").String() + "]"
	}
	if port <= 0 || port == defaultPort {
		return host
	}
	return host + ":" + strconv.Itoa(port)
}
