package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"httpgen/sampler"
)

// netEngine is the engine for every platform and for TLS: a goroutine a
// connection that connects, shakes hands and reads, and tells the loop. Only
// the loop's goroutine touches connections' state.
type netEngine struct {
	l        *loop
	w        *waiter
	mu       sync.Mutex
	inbox    []netEvent
	sleeping bool
	batch    []netEvent
	group    sync.WaitGroup // goroutines of connections
	lives    chan netLife   // for goroutines whose connection is over
	tls      [][]*tlsSetup  // one a target of each stream, nil in the clear
}

// A netConn is the engine's side of a connection.
type netConn struct {
	self   int32
	gen    uint32
	mu     sync.Mutex
	conn   net.Conn // nil until it stands
	closed bool     // by the loop
	cancel context.CancelFunc
	taken  chan struct{} // the loop has taken the last piece
	gone   chan struct{} // the loop has closed the connection

	ahead int // bytes written since the peer sent something; of the loop

	// Of a goroutine that writes. All but begun belong to the loop.
	writing bool
	asked   int          // bytes it was given
	begun   atomic.Int64 // of them, those that the peer may have by now
	told    bool         // flush knows already that all were written
	wrote   int          // bytes that flush does not know of yet
}

type netKind uint8

const (
	netConnected netKind = iota
	netFailed
	netData
	netEnded
	netWritten
)

// A netEvent is what a connection's goroutine tells the loop.
type netEvent struct {
	c      *netConn
	kind   netKind
	class  sampler.Class
	reason string // of class TLS
	n      int
	b      []byte
	dialed time.Time // connected: when the connection stood
	at     time.Time
}

// A netLife is what a goroutine needs to carry a connection.
type netLife struct {
	ctx              context.Context
	nc               *netConn
	dialer           *net.Dialer
	network, address string
	setup            *tlsSetup
}

// netBuffer is the size of a connection's read buffer: a TLS record.
const netBuffer = 16 << 10

func newNet(l *loop) (*netEngine, error) {
	e := &netEngine{l: l, lives: make(chan netLife)}
	for i := range l.streams {
		s := l.streams[i].Stream
		if err := checkSources(s); err != nil {
			return nil, fmt.Errorf("stream %s: %w", s.Name, err)
		}
		var setups []*tlsSetup
		for k := range 1 + len(s.Others) {
			setups = append(setups, newTLSSetup(s, s.target(int32(k))))
		}
		e.tls = append(e.tls, setups)
	}
	return e, nil
}

// checkSources refuses sources of which no connection could come.
func checkSources(s *Stream) error {
	if s.Hog {
		return errors.New("hog does not work over TLS, where the system chooses local ports: use several source addresses (--myaddr)")
	}
	for i := range 1 + len(s.Others) {
		for _, a := range s.target(int32(i)).Addrs {
			if !a.IsValid() {
				return fmt.Errorf("address %q: want an IPv4 or IPv6 address", a)
			}
		}
	}
	for _, ip := range s.Sources {
		if ip.Unmap().Is4() != s.Target.Addrs[0].Addr().Unmap().Is4() {
			return fmt.Errorf("source %v and target %v: want one address family", ip, s.Target.Addrs[0])
		}
		l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(ip, 0)))
		if err != nil {
			return fmt.Errorf("source %v: %w", ip, err)
		}
		l.Close()
	}
	return nil
}

func (e *netEngine) prepare() (err error) {
	e.w, err = newWaiter()
	return err
}

func (e *netEngine) close() {
	close(e.lives)
	e.group.Wait()
	e.w.close()
}

func (e *netEngine) wake() { e.w.wake() }

func (e *netEngine) post(ev netEvent) {
	ev.at = time.Now()
	e.mu.Lock()
	e.inbox = append(e.inbox, ev)
	wake := e.sleeping
	e.sleeping = false
	e.mu.Unlock()
	if wake {
		e.w.wake()
	}
}

func (e *netEngine) poll(d time.Duration) (int, bool, error) {
	if d <= 0 {
		runtime.Gosched()
	}
	e.mu.Lock()
	if len(e.inbox) == 0 && d > 0 {
		e.sleeping = true
		e.mu.Unlock()
		if err := e.w.wait(d); err != nil {
			return 0, false, err
		}
		e.mu.Lock()
		e.sleeping = false
	}
	clear(e.batch)
	e.batch, e.inbox = e.inbox, e.batch[:0]
	e.mu.Unlock()
	return len(e.batch), false, nil
}

func (e *netEngine) handle(i int) {
	ev := &e.batch[i]
	l := e.l
	c := l.at(ev.c.self)
	if c.net != ev.c || c.gen != ev.c.gen {
		return
	}
	at := ev.at.Sub(l.epoch)
	l.clock = at
	switch ev.kind {
	case netConnected:
		if c.stream.TLS != nil {
			dialed := ev.dialed.Sub(l.epoch)
			l.secured(c, dialed, at)
			return
		}
		l.connected(c, at)
	case netFailed:
		e.countTLS(c, ev)
		l.connectFailed(c, ev.class, at)
	case netData:
		ev.c.ahead = 0
		if e.overtaken(c, at); c.net == ev.c {
			l.received(c, ev.b, false, at)
		}
		ev.c.taken <- struct{}{}
	case netEnded:
		e.countTLS(c, ev)
		if ev.class != sampler.OK {
			l.hungUp(c, ev.class, at)
			return
		}
		if e.overtaken(c, at); c.net == ev.c {
			l.endOfStream(c, at)
		}
	case netWritten:
		if ev.c.writing = false; !ev.c.told {
			ev.c.wrote = ev.n
		}
		ev.c.told = false
		l.flush(c, at)
	}
}

// overtaken makes good for what the peer sent before we were told that the request
// it is about was written.
func (e *netEngine) overtaken(c *conn, at time.Duration) {
	if nc := c.net; nc.writing && !nc.told && int(nc.begun.Load()) == nc.asked {
		nc.told, nc.wrote = true, nc.asked
		e.l.flush(c, at)
	}
}

// countTLS counts the end of c where TLS is the reason.
func (e *netEngine) countTLS(c *conn, ev *netEvent) {
	if ev.class == sampler.TLS {
		e.l.c.tlsFailed(c.stream.id, c.warmup, ev.reason)
	}
}

func (e *netEngine) dial(c *conn) sampler.Class {
	st := c.stream
	ctx, cancel := context.WithCancel(context.Background())
	nc := &netConn{self: c.self, gen: c.gen, cancel: cancel, taken: make(chan struct{}, 1), gone: make(chan struct{})}
	c.net = nc
	d := net.Dialer{KeepAlive: -1}
	if n := uint64(len(st.Sources)); n > 0 {
		d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(st.Sources[c.sourceIndex(n)], 0))
	}
	network, address := "tcp", ""
	if to := st.target(c.server); to.Unix != "" {
		network, address = "unix", to.Unix
	} else {
		address = to.Addrs[c.addr].String()
	}
	d.Control = control(st.Stream)
	e.l.attempt(c)
	life := netLife{ctx, nc, &d, network, address, e.tls[st.id][c.server]}
	select {
	case e.lives <- life:
	default:
		e.group.Go(func() { e.carry(life) })
	}
	return sampler.OK
}

// carry lives one connection after the other: a goroutine that has done a
// handshake has a stack large enough for the next, and a buffer.
func (e *netEngine) carry(life netLife) {
	buf := make([]byte, netBuffer)
	var mem []byte // for what is read ahead of TLS
	for ok := true; ok; life, ok = <-e.lives {
		if mem == nil && life.setup != nil {
			mem = make([]byte, netBuffer)
		}
		e.live(&life, buf, mem)
	}
}

// live is the life of a connection.
func (e *netEngine) live(life *netLife, buf, mem []byte) {
	ctx, nc, setup := life.ctx, life.nc, life.setup
	conn, err := life.dialer.DialContext(ctx, life.network, life.address)
	if err != nil {
		if class := classifyError(err); ctx.Err() == nil {
			e.post(netEvent{c: nc, kind: netFailed, class: class})
		}
		return
	}
	dialed := time.Now()
	raw := conn
	var early *ahead
	if setup != nil {
		early = &ahead{Conn: raw, mem: mem}
		conn, err = setup.handshake(ctx, early)
		if err != nil {
			raw.Close()
			if ctx.Err() == nil {
				e.post(netEvent{c: nc, kind: netFailed, class: sampler.TLS, reason: tlsReason(err)})
			}
			return
		}
	}
	nc.mu.Lock()
	nc.conn = conn
	closed := nc.closed
	nc.mu.Unlock()
	if closed {
		shut(conn, raw)
		return
	}
	e.post(netEvent{c: nc, kind: netConnected, dialed: dialed})
	for {
		n, err := conn.Read(buf)
		if early != nil {
			n, err = early.rest(conn, buf, n, err)
		}
		if n > 0 {
			e.post(netEvent{c: nc, kind: netData, b: buf[:n]})
			select {
			case <-nc.taken:
			case <-nc.gone:
			}
		}
		select {
		case <-nc.gone:
			shut(conn, raw)
			return
		default:
		}
		if err != nil {
			ended := netEvent{c: nc, kind: netEnded}
			if err != io.EOF {
				ended.class = classifyError(err)
			}
			if setup != nil && ended.class == sampler.Other {
				// An alert, or a record that is none.
				ended.class, ended.reason = sampler.TLS, tlsReason(err)
			}
			e.post(ended)
			<-nc.gone
			shut(conn, raw)
			return
		}
	}
}

// shut ends a connection, a TLS one with its parting word, for which a peer
// that does not read has a second.
func shut(conn, raw net.Conn) {
	if conn != raw {
		raw.SetDeadline(time.Now().Add(time.Second))
	}
	conn.Close()
}

func (e *netEngine) write(c *conn, b []byte) (int, sampler.Class) {
	nc := c.net
	switch {
	case nc.wrote > 0:
		n := nc.wrote
		nc.wrote = 0
		return n, sampler.OK
	case nc.writing:
		return 0, sampler.OK
	case (c.unsent == c.head || c.h2 != nil && nc.ahead+len(b) <= netBuffer) && len(b) <= netBuffer && (c.stream.SendBuffer == 0 || nc.ahead+len(b) < c.stream.SendBuffer):
		// Little else is on its way: the kernel has room, so this cannot block.
		nc.ahead += len(b)
		n, err := nc.conn.Write(b)
		if err != nil {
			return 0, sampler.OK // the reader tells what became of the connection
		}
		return n, sampler.OK
	}
	nc.writing, nc.asked = true, len(b)
	nc.begun.Store(0)
	if c.h2 != nil || c.calls[c.unsent].req.parts != nil {
		b = bytes.Clone(b) // its buffer may be used again before the goroutine is through
	}
	conn := nc.conn
	e.group.Go(func() {
		for n := 0; n < len(b); {
			k := min(n+netBuffer, len(b))
			nc.begun.Store(int64(k))
			if _, err := conn.Write(b[n:k]); err != nil {
				return // the reader tells
			}
			n = k
		}
		e.post(netEvent{c: nc, kind: netWritten, n: len(b)})
	})
	return 0, sampler.OK
}

func (e *netEngine) drain(*conn) {}

func (e *netEngine) hang(c *conn) {
	nc := c.net
	c.net = nil
	nc.cancel()
	close(nc.gone)
	nc.mu.Lock()
	nc.closed = true
	conn := nc.conn
	nc.mu.Unlock()
	if conn == nil {
		return // its goroutine closes what it may have opened
	}
	if c.stream.CloseReset && c.established {
		if t, ok := netConnOf(conn).(*net.TCPConn); ok {
			t.SetLinger(0)
		}
	}
	// The reader wakes up, sees that it is gone, and closes.
	conn.SetReadDeadline(time.Unix(1, 0))
}

// netConnOf returns what lies below TLS.
func netConnOf(c net.Conn) net.Conn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if a, ok := c.(*ahead); ok {
		c = a.Conn
	}
	return c
}

// classifyError returns the class of an error of package net.
func classifyError(err error) sampler.Class {
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		if errno == syscall.ENOENT || errno == syscall.EAGAIN {
			return sampler.ConnectRefused // a unix socket
		}
		return classify(errno)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return sampler.ClosedEarly
	case errors.Is(err, os.ErrDeadlineExceeded):
		return sampler.SocketTimeout
	}
	return sampler.Other
}
