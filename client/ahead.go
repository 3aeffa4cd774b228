package client

import "net"

// ahead is a connection that reads as much as is there, so that the many small
// records that a server may send are taken with one call, and in one piece.
type ahead struct {
	net.Conn
	mem      []byte
	from, to int  // of mem, what is not handed out
	dry      bool // hand out what is here, and read nothing
}

// Read implements io.Reader.
func (a *ahead) Read(p []byte) (int, error) {
	if a.from == a.to {
		if a.dry {
			return 0, nothingHere{}
		}
		n, err := a.Conn.Read(a.mem)
		if n == 0 {
			return 0, err
		}
		a.from, a.to = 0, n
	}
	n := copy(p, a.mem[a.from:a.to])
	a.from += n
	return n, nil
}

// rest reads behind the n bytes of buf what else is here, through conn, which
// reads from a.
func (a *ahead) rest(conn net.Conn, buf []byte, n int, err error) (int, error) {
	a.dry = true
	defer func() { a.dry = false }()
	for err == nil && n < len(buf) {
		var m int
		m, err = conn.Read(buf[n:])
		if n += m; m == 0 {
			break
		}
	}
	if err == (nothingHere{}) {
		err = nil
	}
	return n, err
}

// nothingHere ends a read that would have to wait. It is temporary: crypto/tls
// then goes on with what it has of a record when it is asked again.
type nothingHere struct{}

// Error implements error.
func (nothingHere) Error() string { return "nothing to read here" }

// Timeout implements net.Error.
func (nothingHere) Timeout() bool { return true }

// Temporary implements net.Error.
func (nothingHere) Temporary() bool { return true }
