package client

import (
	"fmt"
	"net/netip"
	"syscall"
	"time"

	"httpgen/internal/poll"
	"httpgen/sampler"
)

// epoll is the engine for plain connections on Linux: raw non-blocking sockets
// and as few system calls as can be.
type epoll struct {
	l      *loop
	poller *poll.Poller
	events []poll.Event
	buf    []byte
	ends   []endpoints // one a stream
	ready  int         // events of the last poll
	left   []unread    // connections that were not read to the end, and
	turn   []unread    // those of the last poll
}

// An unread is a connection on which more has arrived than was read at once.
type unread struct {
	conn int32
	gen  uint32
}

// maxReads bounds what is read from one connection before others have their turn,
// and timers: some peers send without end.
const maxReads = 16

// endpoints are the kernel's forms of a stream's addresses.
type endpoints struct {
	to       [][]poll.Addr // of each target
	from     []poll.Addr
	wildcard poll.Addr // what hog binds to without sources
	ports    ports
}

// readSize is the size of the read buffer.
const readSize = 64 << 10

func newEpoll(l *loop) (*epoll, error) {
	e := &epoll{l: l, events: make([]poll.Event, 512), buf: make([]byte, readSize)}
	for i := range l.streams {
		st := &l.streams[i]
		ends, err := resolve(st.Stream)
		if err != nil {
			return nil, fmt.Errorf("stream %s: %w", st.Name, err)
		}
		ends.ports = newPorts(st.Stream, l.id)
		e.ends = append(e.ends, ends)
	}
	return e, nil
}

// resolve makes the kernel's forms of all addresses.
func resolve(s *Stream) (ends endpoints, err error) {
	for i := range 1 + len(s.Others) {
		to, err := addresses(s.target(int32(i)))
		if err != nil {
			return ends, err
		}
		ends.to = append(ends.to, to)
	}
	if s.Target.Unix != "" {
		return ends, nil
	}
	for _, ip := range s.Sources {
		a, err := poll.TCPAddr(netip.AddrPortFrom(ip, 0))
		if err != nil {
			return ends, err
		}
		if !a.SameFamily(&ends.to[0][0]) {
			return ends, fmt.Errorf("source %v and target %v: want one address family", ip, s.Target.Addrs[0])
		}
		if e := local(&a); e != 0 {
			return ends, fmt.Errorf("source %v: %w", ip, e)
		}
		ends.from = append(ends.from, a)
	}
	if s.Hog {
		any := netip.IPv4Unspecified()
		if s.Target.Addrs[0].Addr().Unmap().Is6() {
			any = netip.IPv6Unspecified()
		}
		ends.wildcard, err = poll.TCPAddr(netip.AddrPortFrom(any, 0))
	}
	return ends, err
}

// addresses makes the kernel's form of a target.
func addresses(t *Target) (to []poll.Addr, err error) {
	if t.Unix != "" {
		a, err := poll.UnixAddr(t.Unix)
		return []poll.Addr{a}, err
	}
	for _, ap := range t.Addrs {
		a, err := poll.TCPAddr(ap)
		if err != nil {
			return nil, err
		}
		to = append(to, a)
	}
	return to, nil
}

// local says whether a is an address of this machine: 0, or why it is not.
func local(a *poll.Addr) poll.Errno {
	fd, e := poll.Socket(a)
	if e != 0 {
		return e
	}
	defer poll.Close(fd)
	return poll.Bind(fd, a)
}

func (e *epoll) prepare() (err error) {
	e.poller, err = poll.New()
	return err
}

func (e *epoll) close() { e.poller.Close() }

func (e *epoll) wake() { e.poller.Wake() }

func (e *epoll) poll(d time.Duration) (n int, more bool, err error) {
	if len(e.left) > 0 {
		d = 0
	}
	n, errno := e.poller.Wait(e.events, d)
	if errno != 0 {
		return 0, false, fmt.Errorf("epoll: %w", errno)
	}
	e.ready = n
	e.turn, e.left = e.left, e.turn[:0]
	return n + len(e.turn), n == len(e.events), nil
}

func (e *epoll) dial(c *conn) sampler.Class {
	st := c.stream
	ends := &e.ends[st.id]
	to := &ends.to[c.server][c.addr]
	fd, errno := poll.Socket(to)
	if errno != 0 {
		return classify(errno)
	}
	c.fd = fd
	if st.SendBuffer > 0 {
		poll.SetSendBuffer(fd, st.SendBuffer)
	}
	if st.ReceiveBuffer > 0 {
		poll.SetReceiveBuffer(fd, st.ReceiveBuffer)
	}
	if st.noDelay && !to.IsUnix() {
		poll.SetNoDelay(fd)
	}
	e.l.attempt(c)
	if len(ends.from) > 0 || st.Hog {
		if errno := e.bind(c, ends); errno != 0 {
			return classify(errno)
		}
	}
	switch errno := ends.ports.connect(fd, to); {
	case errno == 0, errno == syscall.EINPROGRESS:
	case to.IsUnix() && (errno == syscall.EAGAIN || errno == syscall.ENOENT):
		// A unix socket whose backlog is full, or that nobody has bound.
		return sampler.ConnectRefused
	default:
		return classify(errno)
	}
	return classify(e.poller.Add(fd, uint64(uint32(c.self))|uint64(c.gen)<<32))
}

// bind gives c's socket its local address.
func (e *epoll) bind(c *conn, ends *endpoints) poll.Errno {
	src := &ends.wildcard
	if n := uint64(len(ends.from)); n > 0 {
		src = &ends.from[c.sourceIndex(n)]
	}
	if !c.stream.Hog {
		poll.SetBindNoPort(c.fd)
		return poll.Bind(c.fd, src)
	}
	return ends.ports.bind(c.fd, src)
}

func (e *epoll) write(c *conn, b []byte) (int, sampler.Class) {
	n, errno := poll.Write(c.fd, b)
	if errno == syscall.EAGAIN {
		return 0, sampler.OK
	}
	return max(0, n), classify(errno)
}

func (e *epoll) hang(c *conn) {
	if c.stream.CloseReset && c.established {
		poll.SetReset(c.fd)
	}
	poll.Close(c.fd)
}

func (e *epoll) drain(c *conn) { e.read(c, true) }

// handle handles one ready socket.
func (e *epoll) handle(i int) {
	if i >= e.ready {
		u := e.turn[i-e.ready]
		if c := e.l.at(u.conn); c.gen == u.gen {
			e.read(c, false)
		}
		return
	}
	l, ev := e.l, &e.events[i]
	data := poll.Data(ev)
	c := l.at(int32(uint32(data)))
	if c.gen != uint32(data>>32) {
		return
	}
	bits := ev.Events
	if !c.established {
		now := l.now()
		if bits&(poll.Err|poll.Hup) != 0 {
			if errno := poll.SocketError(c.fd); errno != 0 {
				l.connectFailed(c, classify(errno), now)
				return
			}
		} else if bits&poll.Out == 0 {
			return
		}
		l.connected(c, now)
	} else if bits&poll.Out != 0 && c.unfinished() {
		l.flush(c, l.now())
	}
	if c.gen == uint32(data>>32) && bits&(poll.In|poll.RdHup|poll.Hup|poll.Err) != 0 {
		e.read(c, bits&(poll.RdHup|poll.Hup|poll.Err) != 0)
	}
}

// read takes what the peer sent. ending says that it has hung up, so that the
// end of the stream is read too.
func (e *epoll) read(c *conn, ending bool) {
	l := e.l
	for k := 0; ; k++ {
		if k == maxReads && !ending {
			e.left = append(e.left, unread{c.self, c.gen})
			return
		}
		n, errno := poll.Read(c.fd, e.buf)
		if errno == syscall.EAGAIN {
			return
		}
		now := l.now()
		switch {
		case errno != 0:
			l.hungUp(c, classify(errno), now)
			return
		case n == 0:
			l.endOfStream(c, now)
			return
		}
		gen := c.gen
		l.received(c, e.buf[:n], ending, now)
		if c.gen != gen || n < len(e.buf) && !ending {
			return
		}
	}
}
