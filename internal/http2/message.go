package http2

// A message is a field section that is being read, and what it says.
type message struct {
	trailer bool
	limit   int // of size

	size   int   // as the protocol counts (RFC 9113, 6.5.2)
	status int   // 0 without
	length int64 // Content-Length, -1 without
	fields bool  // a field that is no pseudo-field was seen
	flaw   Flaw  // the first one
}

// add judges a field (RFC 9113, 8.2 and 8.3).
func (m *message) add(name, value []byte) {
	m.size += len(name) + len(value) + entryOverhead
	switch {
	case m.flaw != 0:
	case m.size > m.limit:
		m.flaw = FlawHeaderSize
	case len(name) > 0 && name[0] == ':':
		m.pseudo(name, value)
	case !token(name):
		m.flaw = FlawName
	case !text(value):
		m.flaw = FlawValue
	case hopByHop(name):
		m.flaw = FlawConnection
	default:
		m.fields = true
		if string(name) == "content-length" && !m.trailer {
			m.contentLength(value)
		}
	}
}

// pseudo takes a pseudo-field, of which a reply has one.
func (m *message) pseudo(name, value []byte) {
	if m.trailer || m.fields || string(name) != ":status" {
		m.flaw = FlawPseudo
		return
	}
	if m.status != 0 || len(value) != 3 {
		m.flaw = FlawStatus
		return
	}
	n, ok := number(value)
	if !ok || n < 100 || n == 101 { // which HTTP/2 does not have (RFC 9113, 8.6)
		m.flaw = FlawStatus
		return
	}
	m.status = int(n)
}

// contentLength takes a Content-Length. An equal one may repeat it.
func (m *message) contentLength(value []byte) {
	n, ok := number(value)
	if !ok || m.length >= 0 && m.length != n {
		m.flaw = FlawLength
		return
	}
	m.length = n
}

// number reads a decimal number below 10^18.
func number(b []byte) (n int64, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		if n >= 1e17 {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, len(b) > 0
}

// text reports whether b may be a field value (RFC 9113, 8.2.1).
func text(b []byte) bool {
	for _, c := range b {
		if c == 0 || c == '\r' || c == '\n' {
			return false
		}
	}
	return true
}
