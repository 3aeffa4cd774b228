package target

import "bytes"

// maxHead bounds a request's head in bytes.
const maxHead = 64 << 10

// A request is what the server must know of a request's head.
type request struct {
	length  int64 // of the body; 0 when chunked
	chunked bool
	head    bool // the method is HEAD: the reply has no body
	old     bool // HTTP/1.0
	close   bool // the connection ends after the reply
	expects bool // wants 100 Continue before it sends the body
}

var (
	nameHost             = []byte("host")
	nameExpect           = []byte("expect")
	nameConnection       = []byte("connection")
	nameContentLength    = []byte("content-length")
	nameTransferEncoding = []byte("transfer-encoding")
	valueClose           = []byte("close")
	valueKeepAlive       = []byte("keep-alive")
	valueChunked         = []byte("chunked")
	valueContinue        = []byte("100-continue")
	comma                = []byte(",")
	methodHead           = []byte("HEAD")
	protocolPrefix       = []byte("HTTP/1.")
)

// isToken tells the bytes of a method or header name (RFC 9110, 5.6.2).
var isToken = func() (t [256]bool) {
	for c := '0'; c <= '9'; c++ {
		t[c] = true
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = true, true
	}
	for _, c := range "!#$%&'*+-.^_`|~" {
		t[c] = true
	}
	return t
}()

// parseHead reads the head of a request at the start of b. n is its length, 0
// when b holds only a part of it, and -1 when it is not a request's head.
func parseHead(b []byte) (r request, n int) {
	// RFC 9112, 2.2: empty lines before a request line are to be ignored.
	for n < len(b) && (b[n] == '\r' || b[n] == '\n') {
		n++
	}
	if n < len(b) && !isToken[b[n]] {
		return r, -1 // such as a TLS hello, which may never contain a line's end
	}
	line, n := cutLine(b, n)
	if n == 0 {
		return r, 0
	}
	if !r.parseLine(line) {
		return r, -1
	}
	f := fields{length: -1}
	for {
		line, n = cutLine(b, n)
		if n == 0 {
			return r, 0
		}
		if len(line) == 0 {
			break
		}
		if !f.parse(line) {
			return r, -1
		}
	}
	if !f.host && !r.old {
		return r, -1
	}
	r.close = f.close || r.old && !f.keepAlive
	r.expects = f.expects && !r.old
	if f.chunked {
		// RFC 9112, 6.1: with a length as well, or from HTTP/1.0, the
		// message may be an attack: the connection is not used again.
		r.chunked = true
		r.close = r.close || r.old || f.length >= 0
	} else if f.length > 0 {
		r.length = f.length
	}
	return r, n
}

// cutLine returns the line of b that starts at i, without its end, and where
// the next one starts; 0 when the line has no end yet.
func cutLine(b []byte, i int) ([]byte, int) {
	n := bytes.IndexByte(b[i:], '\n')
	if n < 0 {
		return nil, 0
	}
	line := b[i : i+n]
	if n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, i + n + 1
}

func (r *request) parseLine(line []byte) bool {
	sp := bytes.IndexByte(line, ' ')
	if !token(line[:max(sp, 0)]) {
		return false
	}
	r.head = bytes.Equal(line[:sp], methodHead)
	line = line[sp+1:]
	sp = bytes.IndexByte(line, ' ')
	if sp <= 0 {
		return false
	}
	digit, ok := bytes.CutPrefix(line[sp+1:], protocolPrefix)
	if !ok || len(digit) != 1 || digit[0] < '0' || digit[0] > '9' {
		return false
	}
	r.old = digit[0] == '0'
	return true
}

func token(b []byte) bool {
	for _, c := range b {
		if !isToken[c] {
			return false
		}
	}
	return len(b) > 0
}

// trim returns b without the blanks around it.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// fields are the header fields that matter.
type fields struct {
	length    int64 // -1 when there is none
	host      bool
	close     bool
	keepAlive bool
	chunked   bool
	expects   bool
}

func (f *fields) parse(line []byte) bool {
	colon := bytes.IndexByte(line, ':')
	if !token(line[:max(colon, 0)]) {
		return false
	}
	name, value := line[:colon], trim(line[colon+1:])
	switch len(name) {
	case len(nameHost):
		f.host = f.host || bytes.EqualFold(name, nameHost)
	case len(nameExpect):
		f.expects = f.expects || bytes.EqualFold(name, nameExpect) && bytes.EqualFold(value, valueContinue)
	case len(nameConnection):
		if bytes.EqualFold(name, nameConnection) {
			f.parseConnection(value)
		}
	case len(nameContentLength):
		if bytes.EqualFold(name, nameContentLength) {
			return f.parseLength(value)
		}
	case len(nameTransferEncoding):
		if bytes.EqualFold(name, nameTransferEncoding) {
			last := value[bytes.LastIndexByte(value, ',')+1:]
			f.chunked = bytes.EqualFold(trim(last), valueChunked)
			return f.chunked
		}
	}
	return true
}

func (f *fields) parseConnection(value []byte) {
	for len(value) > 0 {
		option, rest, _ := bytes.Cut(value, comma)
		option = trim(option)
		f.close = f.close || bytes.EqualFold(option, valueClose)
		f.keepAlive = f.keepAlive || bytes.EqualFold(option, valueKeepAlive)
		value = rest
	}
}

func (f *fields) parseLength(value []byte) bool {
	if len(value) == 0 || len(value) > 18 {
		return false
	}
	var n int64
	for _, c := range value {
		if c < '0' || c > '9' {
			return false
		}
		n = n*10 + int64(c-'0')
	}
	if f.length >= 0 && f.length != n {
		return false
	}
	f.length = n
	return true
}

// A body skips the body of a request. The zero value is no body.
type body struct {
	left  int64 // bytes of data still to come, or the chunk's size so far
	state bodyState
}

type bodyState uint8

const (
	noBody      bodyState = iota
	fixedData             // data of a known length
	chunkStart            // the first digit of a chunk's size
	chunkSize             // further digits
	chunkRest             // extensions, up to the line's end
	chunkData             // data of a chunk
	chunkEnd              // the line's end after a chunk's data
	trailerLine           // the start of a trailer line, or the empty line
	trailerRest           // the rest of a trailer line
)

// maxChunk bounds the size of a chunk in bytes.
const maxChunk = 1 << 48

func (r *request) body() body {
	switch {
	case r.chunked:
		return body{state: chunkStart}
	case r.length > 0:
		return body{state: fixedData, left: r.length}
	}
	return body{}
}

// skip passes over the part of b that belongs to the body and returns its
// length. The state is noBody when the body is complete; ok is false when the
// chunks are malformed.
func (d *body) skip(b []byte) (n int, ok bool) {
	for n < len(b) && d.state != noBody {
		if d.state == fixedData || d.state == chunkData {
			k := min(int64(len(b)-n), d.left)
			n += int(k)
			if d.left -= k; d.left > 0 {
				return n, true
			}
			if d.state == fixedData {
				d.state = noBody
			} else {
				d.state = chunkEnd
			}
			continue
		}
		if !d.step(b[n]) {
			return n, false
		}
		n++
	}
	return n, true
}

// step takes one byte of a chunked body's framing.
func (d *body) step(c byte) bool {
	switch d.state {
	case chunkStart, chunkSize:
		if v := hexValue(c); v >= 0 {
			d.left = d.left<<4 | v
			d.state = chunkSize
			return d.left <= maxChunk
		}
		if d.state == chunkStart {
			return false
		}
		switch c {
		case '\n':
			d.sizeEnded()
		case '\r', ';', ' ', '\t':
			d.state = chunkRest
		default:
			return false
		}
	case chunkRest:
		if c == '\n' {
			d.sizeEnded()
		}
	case chunkEnd:
		if c == '\n' {
			d.state = chunkStart
		}
		return c == '\n' || c == '\r'
	case trailerLine:
		switch c {
		case '\n':
			d.state = noBody
		case '\r':
		default:
			d.state = trailerRest
		}
	case trailerRest:
		if c == '\n' {
			d.state = trailerLine
		}
	}
	return true
}

func (d *body) sizeEnded() {
	d.state = chunkData
	if d.left == 0 {
		d.state = trailerLine
	}
}

func hexValue(c byte) int64 {
	switch {
	case c >= '0' && c <= '9':
		return int64(c - '0')
	case c >= 'a' && c <= 'f':
		return int64(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int64(c-'A') + 10
	}
	return -1
}
