package accesslog

import (
	"bytes"
	"fmt"
	"strings"
)

// A record is one line. Its slices are parts of the line.
type record struct {
	time      int64 // Unix nanoseconds
	fraction  bool  // the stamp was written with a fraction of a second
	host      []byte
	method    []byte
	uri       []byte
	protocol  []byte
	status    int
	referer   []byte
	userAgent []byte
}

// A content says what a line in the format holds.
type content uint8

const (
	request  content = iota
	notHTTP          // no request of HTTP: "-", a TLS greeting, "GET" alone
	unusable         // a request that cannot be sent as it was
)

// malformed says where a line is not in the format.
type malformed struct {
	column int // of the first byte that does not fit, from 1
	got    []byte
	want   string
}

func (m *malformed) Error() string {
	return fmt.Sprintf("%d: %q: want %s", m.column, m.got, m.want)
}

// parse reads a line without its end. It decodes escapes where they stand, so
// the line is changed.
func (r *record) parse(line []byte) (content, error) {
	*r = record{}
	// No user name holds a bare quote, so the first one behind a bracket begins
	// the request, whatever a client sent as its name.
	end := bytes.Index(line, []byte(`] "`))
	begin := -1
	if end >= 0 {
		begin = bytes.LastIndex(line[:end], []byte(" ["))
	}
	if begin < 0 {
		return 0, wrong(line, afterFields(line, 3), `host, ident, user, [time] and "request"`)
	}
	fields := 0
	for f := range bytes.SplitSeq(line[:begin], []byte(" ")) {
		if len(f) == 0 {
			return 0, wrong(line, 0, "host, ident and user with one blank between them")
		}
		if fields++; fields == 1 {
			r.host = f
		}
	}
	if fields < 3 {
		return 0, wrong(line, begin+1, "host, ident and user before the time")
	}
	if fields == 3 || !virtual(r.host) {
		r.host = nil
	}
	var ok bool
	if r.time, r.fraction, ok = stamp(line[begin+2 : end]); !ok {
		return 0, wrong(line, begin+1, "a time such as [10/Oct/2000:13:55:36 -0700] or [1700000000.123]")
	}
	text, at, ok := quoted(line, end+2)
	if !ok {
		return 0, wrong(line, end+2, "a request in quotes")
	}
	status, at, ok := number(line, at)
	if !ok || len(status) != 3 && string(status) != "-" {
		return 0, wrong(line, at, "a status of three digits")
	}
	if len(status) == 3 {
		r.status = int(status[0]-'0')*100 + int(status[1]-'0')*10 + int(status[2]-'0')
	}
	if _, at, ok = number(line, at); !ok {
		return 0, wrong(line, at, "a number of bytes")
	}
	for _, field := range []*[]byte{&r.referer, &r.userAgent} {
		if at+1 >= len(line) || line[at+1] != '"' {
			break
		}
		from := at + 1
		if *field, at, ok = quoted(line, from); !ok {
			return 0, wrong(line, from, "a closing quote")
		}
		if string(*field) == "-" {
			*field = nil
		}
	}
	c := r.split(text)
	if c == request && !(sendable(r.referer) && sendable(r.userAgent)) {
		c = unusable
	}
	return c, nil
}

// wrong returns the error of a line that does not fit from byte at on.
func wrong(line []byte, at int, want string) error {
	const most = 40 // of a line that may be long
	got := line[at:]
	if len(got) > most {
		got = got[:most]
	}
	return &malformed{at + 1, bytes.Clone(got), want}
}

// afterFields returns where field n begins, from 0, or where the line ends.
func afterFields(line []byte, n int) int {
	at := 0
	for range n {
		i := bytes.IndexByte(line[at:], ' ')
		if i < 0 {
			return len(line)
		}
		at += i + 1
	}
	return at
}

// virtual reports whether a first field is a virtual host with its port. An
// IPv6 address of a client, which may look like it, has more colons.
func virtual(b []byte) bool {
	i := bytes.LastIndexByte(b, ':')
	if i <= 0 || i == len(b)-1 || !unbroken(b) {
		return false
	}
	if bytes.IndexByte(b[:i], ':') >= 0 && (b[0] != '[' || b[i-1] != ']') {
		return false
	}
	_, digits := decimal(b[i+1:])
	return digits
}

// quoted returns the field in quotes that begins at byte at, decoded, and the
// place behind it: a blank or the end of the line.
func quoted(line []byte, at int) (text []byte, after int, ok bool) {
	if at >= len(line) || line[at] != '"' {
		return nil, at, false
	}
	for i := at + 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			if i+1 < len(line) && line[i+1] != ' ' {
				return nil, at, false
			}
			return unescape(line[at+1 : i]), i + 1, true
		}
	}
	return nil, at, false
}

// number returns the digits, or the "-", behind the blank at byte at. When
// there are none, after is where they were wanted.
func number(line []byte, at int) (text []byte, after int, ok bool) {
	if at == len(line) {
		return nil, at, false
	}
	at++
	text = line[at:]
	if i := bytes.IndexByte(text, ' '); i >= 0 {
		text = text[:i]
	}
	if string(text) != "-" {
		for _, c := range text {
			if c < '0' || c > '9' {
				return nil, at, false
			}
		}
	}
	if len(text) == 0 {
		return nil, at, false
	}
	return text, at + len(text), true
}

// unescape decodes in place what nginx and Apache write for bytes that would
// break the line. A backslash before anything else stands for itself.
func unescape(b []byte) []byte {
	w := bytes.IndexByte(b, '\\')
	if w < 0 {
		return b
	}
	for i := w; i < len(b); w++ {
		c, n := b[i], 1
		if c == '\\' {
			c, n = escape(b[i:])
		}
		b[w] = c
		i += n
	}
	return b[:w]
}

// escape decodes the escape that b begins with, n bytes long.
func escape(b []byte) (c byte, n int) {
	if len(b) < 2 {
		return '\\', 1
	}
	switch b[1] {
	case '"', '\\':
		return b[1], 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'v':
		return '\v', 2
	case 'x':
		if len(b) >= 4 {
			hi, lo := hex(b[2]), hex(b[3])
			if hi < 16 && lo < 16 {
				return hi<<4 | lo, 4
			}
		}
	}
	return '\\', 1
}

// hex returns the value of a hexadecimal digit, 16 for any other byte.
func hex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 16
}

// split takes the request line apart: method, target and version, or GET and a
// path alone, which is HTTP/0.9. What stands between the first and the last
// blank is the target, so that one with blanks is known for what it is.
func (r *record) split(text []byte) content {
	first, last := bytes.IndexByte(text, ' '), bytes.LastIndexByte(text, ' ')
	if first < 0 {
		return notHTTP
	}
	r.method, r.protocol = text[:first], text[last+1:]
	switch {
	case first < last && version(r.protocol):
		r.uri = text[first+1 : last]
	case first == last && string(r.method) == "GET" && bytes.HasPrefix(r.protocol, []byte("/")):
		r.uri, r.protocol = r.protocol, nil
	}
	switch {
	case len(r.uri) == 0 || !token(r.method):
		return notHTTP
	case !unbroken(r.uri):
		return unusable
	}
	return request
}

// version reports whether b is HTTP/ and a version of digits and points.
func version(b []byte) bool {
	v, ok := bytes.CutPrefix(b, []byte("HTTP/"))
	for _, c := range v {
		ok = ok && (c == '.' || '0' <= c && c <= '9')
	}
	return ok && len(v) > 0
}

// token reports whether b is a token (RFC 9110, 5.6.2).
func token(b []byte) bool {
	for _, c := range b {
		switch {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return len(b) > 0
}

// unbroken reports whether b has neither blanks nor control characters.
func unbroken(b []byte) bool {
	for _, c := range b {
		if c <= ' ' || c == 0x7f {
			return false
		}
	}
	return true
}

// sendable reports whether b may be the value of a header field.
func sendable(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
