package poll

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func listen(t *testing.T, a Addr) (int, int) {
	t.Helper()
	fd, port, err := Listen(&a, 16)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { Close(fd) })
	return fd, port
}

func tcp(t *testing.T, s string) Addr {
	t.Helper()
	a, err := TCPAddr(netip.MustParseAddrPort(s))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// waitFor polls until the descriptor added with data shows one of bits.
func waitFor(t *testing.T, p *Poller, data uint64, bits uint32) {
	t.Helper()
	events := make([]Event, 8)
	for range 100 {
		n, e := p.Wait(events, 100*time.Millisecond)
		if e != 0 {
			t.Fatal(e)
		}
		for i := range n {
			if Data(&events[i]) == data && events[i].Events&bits != 0 {
				return
			}
		}
	}
	t.Fatalf("descriptor %#x never showed %#x", data, bits)
}

func TestExchange(t *testing.T) {
	t.Parallel()
	unixAddr, err := UnixAddr(filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		addr Addr
		peer string
	}{
		{"ipv4", tcp(t, "127.0.0.1:0"), "127.0.0.1"},
		{"ipv4 mapped", tcp(t, "[::ffff:127.0.0.1]:0"), "127.0.0.1"},
		{"ipv6", tcp(t, "[::1]:0"), "::1"},
		{"unix", unixAddr, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, port := listen(t, tt.addr)
			if !tt.addr.IsUnix() {
				tt.addr.SetPort(uint16(port))
			}
			p, err := New()
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if e := p.AddListener(l, 1); e != 0 {
				t.Fatal(e)
			}
			fd, e := Socket(&tt.addr)
			if e != 0 {
				t.Fatal(e)
			}
			defer Close(fd)
			if e := Connect(fd, &tt.addr); e != 0 && e != syscall.EINPROGRESS {
				t.Fatal(e)
			}
			const data = 7<<32 | 9
			if e := p.Add(fd, data); e != 0 {
				t.Fatal(e)
			}
			waitFor(t, p, 1, In)
			peer, ip, e := Accept(l)
			if e != 0 {
				t.Fatal(e)
			}
			defer Close(peer)
			if tt.peer != "" && ip.String() != tt.peer {
				t.Errorf("peer = %v, want %s", ip, tt.peer)
			}
			if e := SocketError(fd); e != 0 {
				t.Errorf("SocketError = %v, want none", e)
			}
			if n, e := Write(peer, []byte("hello")); n != 5 || e != 0 {
				t.Fatalf("Write = %d, %v", n, e)
			}
			waitFor(t, p, data, In)
			b := make([]byte, 16)
			if n, e := Read(fd, b); e != 0 || string(b[:n]) != "hello" {
				t.Fatalf("Read = %q, %v, want hello", b[:n], e)
			}
			if _, e := Read(fd, b); e != syscall.EAGAIN {
				t.Errorf("second Read = %v, want EAGAIN", e)
			}
			if e := ShutdownWrite(peer); e != 0 {
				t.Fatal(e)
			}
			waitFor(t, p, data, RdHup)
			if n, e := Read(fd, b); n != 0 || e != 0 {
				t.Errorf("Read at the end = %d, %v, want 0", n, e)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	a := tcp(t, "127.0.0.1:0")
	l, port, err := Listen(&a, 1)
	if err != nil {
		t.Fatal(err)
	}
	Close(l)
	a.SetPort(uint16(port))
	fd, e := Socket(&a)
	if e != 0 {
		t.Fatal(e)
	}
	defer Close(fd)
	if e = Connect(fd, &a); e == syscall.EINPROGRESS {
		p, err := New()
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if e := p.Add(fd, 3); e != 0 {
			t.Fatal(e)
		}
		waitFor(t, p, 3, Err|Hup)
		e = SocketError(fd)
	}
	if e != syscall.ECONNREFUSED {
		t.Errorf("connect to a closed port = %v, want ECONNREFUSED", e)
	}
}

func TestResetOnClose(t *testing.T) {
	t.Parallel()
	a := tcp(t, "127.0.0.1:0")
	l, port := listen(t, a)
	a.SetPort(uint16(port))
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if e := p.AddListener(l, 1); e != 0 {
		t.Fatal(e)
	}
	fd, _ := Socket(&a)
	if e := Connect(fd, &a); e != 0 && e != syscall.EINPROGRESS {
		t.Fatal(e)
	}
	waitFor(t, p, 1, In)
	peer, _, e := Accept(l)
	if e != 0 {
		t.Fatal(e)
	}
	defer Close(peer)
	if e := SetReset(fd); e != 0 {
		t.Fatal(e)
	}
	if e := p.Add(peer, 2); e != 0 {
		t.Fatal(e)
	}
	Close(fd)
	waitFor(t, p, 2, Err|Hup)
	if _, e := Read(peer, make([]byte, 1)); e != syscall.ECONNRESET {
		t.Errorf("Read after the peer's reset = %v, want ECONNRESET", e)
	}
}

func TestBindNoPortSharesPorts(t *testing.T) {
	t.Parallel()
	src := tcp(t, "127.0.0.9:0")
	a := tcp(t, "127.0.0.1:0")
	l, port := listen(t, a)
	a.SetPort(uint16(port))
	fd, _ := Socket(&a)
	defer Close(fd)
	for _, e := range []Errno{SetBindNoPort(fd), Bind(fd, &src), SetNoDelay(fd), SetSendBuffer(fd, 8192), SetReceiveBuffer(fd, 8192)} {
		if e != 0 {
			t.Fatal(e)
		}
	}
	if e := Connect(fd, &a); e != 0 && e != syscall.EINPROGRESS {
		t.Fatal(e)
	}
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if e := p.AddListener(l, 1); e != 0 {
		t.Fatal(e)
	}
	waitFor(t, p, 1, In)
	peer, ip, e := Accept(l)
	if e != 0 {
		t.Fatal(e)
	}
	Close(peer)
	if ip.String() != "127.0.0.9" {
		t.Errorf("source = %v, want 127.0.0.9", ip)
	}
}

func TestWakeEndsWait(t *testing.T) {
	t.Parallel()
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	go p.Wake()
	events := make([]Event, 4)
	// An hour: only the wake-up can end it within the test's own limit.
	if n, e := p.Wait(events, time.Hour); n != 0 || e != 0 {
		t.Errorf("Wait = %d, %v, want 0 events", n, e)
	}
	if n, e := p.Wait(events, 0); n != 0 || e != 0 {
		t.Errorf("Wait after a wake-up = %d, %v, want 0 events", n, e)
	}
}

func TestBadAddresses(t *testing.T) {
	t.Parallel()
	if _, err := TCPAddr(netip.AddrPort{}); err == nil {
		t.Error("TCPAddr of the zero address: no error")
	}
	long := make([]byte, 200)
	for i := range long {
		long[i] = 'x'
	}
	for _, path := range []string{"", string(long)} {
		if _, err := UnixAddr(path); err == nil {
			t.Errorf("UnixAddr of %d bytes: no error", len(path))
		}
	}
}

func TestRaiseFileLimit(t *testing.T) {
	n, err := RaiseFileLimit()
	if err != nil {
		t.Fatal(err)
	}
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		t.Fatal(err)
	}
	if l.Cur != l.Max || n != l.Max {
		t.Errorf("limit = %d, soft %d, hard %d: want all equal", n, l.Cur, l.Max)
	}
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	var size uint64
	if _, after, ok := strings.Cut(string(b), "FDSize:"); ok {
		fmt.Sscan(after, &size)
	}
	if want := min(n, tableSize); size < want {
		t.Errorf("the kernel's table has room for %d descriptors: want %d", size, want)
	}
}

func TestThreadCPUGrows(t *testing.T) {
	if err := SetTimerSlack(time.Nanosecond); err != nil {
		t.Fatal(err)
	}
	before := ThreadCPU()
	for range 1000 {
		if ThreadCPU() > before {
			return
		}
	}
	t.Error("ThreadCPU did not grow over 1000 readings")
}
