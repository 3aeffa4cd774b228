package http2

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http2/hpack"
)

// A Field is one header field.
type Field struct {
	Name  string // a token; sent in lower case
	Value string // without CR, LF or NUL
}

// A Request is a request as HTTP/2 sends it. It is made once and may be sent any
// number of times, on any connection, by any goroutine.
type Request struct {
	block []byte // a change of the dynamic table's size to 0, in one byte, and the field block
	body  []byte
	head  bool // the method is HEAD
}

// NewRequest prepares a request. An empty method is GET, an empty path is /, and
// an empty authority is left out. CONNECT, which opens a tunnel, is refused.
//
// Of header, names become lower case and blanks around values are dropped. Host
// replaces authority. Content-Length is always that of body. What concerns an
// HTTP/1 connection (Connection, Keep-Alive, Proxy-Connection,
// Transfer-Encoding, Upgrade, TE but for trailers: RFC 9113, 8.2.2) is left out.
// body is kept and must not be changed.
func NewRequest(method, scheme, authority, path string, header []Field, body []byte) (*Request, error) {
	method, path = cmp.Or(method, "GET"), cmp.Or(path, "/")
	if i := slices.IndexFunc(header, func(f Field) bool { return strings.EqualFold(f.Name, "host") }); i >= 0 {
		authority = strings.Trim(header[i].Value, " \t")
	}
	switch {
	case !token([]byte(strings.ToLower(method))) || method == "CONNECT":
		return nil, fmt.Errorf("http2: method %q: want a token such as GET, and not CONNECT", method)
	case scheme != "http" && scheme != "https":
		return nil, fmt.Errorf("http2: scheme %q: want http or https", scheme)
	case !unbroken(authority):
		return nil, fmt.Errorf("http2: authority %q: want no blanks or control characters", authority)
	case !unbroken(path) || path[0] != '/' && path != "*":
		return nil, fmt.Errorf("http2: path %q: want one that begins with / and has no blanks or control characters, or *", path)
	}
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	enc.SetMaxDynamicTableSizeLimit(0) // the first field comes behind the change to it
	write := func(name, value string) {
		// A bytes.Buffer takes everything.
		_ = enc.WriteField(hpack.HeaderField{Name: name, Value: value})
	}
	write(":method", method)
	write(":scheme", scheme)
	if authority != "" {
		write(":authority", authority)
	}
	write(":path", path)
	for _, f := range header {
		name, value := strings.ToLower(f.Name), strings.Trim(f.Value, " \t")
		if !token([]byte(name)) {
			return nil, fmt.Errorf("http2: header name %q: want a token such as Accept", f.Name)
		}
		if strings.ContainsAny(value, "\r\n\x00") {
			return nil, fmt.Errorf("http2: header %s: value %q: want no CR, LF or NUL", f.Name, f.Value)
		}
		if name == "host" || name == "content-length" || hopByHop([]byte(name)) || name == "te" && !strings.EqualFold(value, "trailers") {
			continue
		}
		write(name, value)
	}
	if len(body) > 0 || method == "POST" || method == "PUT" || method == "PATCH" { // RFC 9110, 8.6
		write("content-length", strconv.Itoa(len(body)))
	}
	return &Request{block.Bytes(), body, method == "HEAD"}, nil
}

// hopByHop reports whether a field name in lower case has no place in HTTP/2.
func hopByHop(name []byte) bool {
	switch string(name) {
	case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade":
		return true
	}
	return false
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

// token reports whether b is a token (RFC 9110, 5.6.2) without upper-case
// letters, as the names of HTTP/2 are.
func token(b []byte) bool {
	for _, c := range b {
		if !isToken[c] {
			return false
		}
	}
	return len(b) > 0
}

var isToken = func() (t [256]bool) {
	for _, c := range "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz" {
		t[c] = true
	}
	return t
}()
