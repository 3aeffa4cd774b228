package client

import (
	"net"
	"testing"
)

// TestPortsInUseArePassedOver opens more connections than one walk tries while
// the ports that come next are taken.
func TestPortsInUseArePassedOver(t *testing.T) {
	t.Parallel()
	addr := serve(t, each(plainReply))
	c, err := New(plan(t, to(addr), 40, Calls{}))
	if err != nil {
		t.Skip(err)
	}
	p := &c.loops[0].io.(*epoll).ends[0].ports
	if !p.walks {
		t.Skip("the kernel does not let a socket name its ports")
	}
	// All that would be tried at even offsets, and some at odd ones.
	next := *p
	for i := range walk[0] + walk[1] - 1 {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(next.next(min(1, i/walk[0])))}}
		if busy, err := d.Dial("tcp", addr.String()); err == nil {
			t.Cleanup(func() { busy.Close() })
		}
	}
	r, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a := &r.All; a.Completed() != 40 || a.Failed != 0 {
		t.Errorf("outcomes %s, failed %d: want 40 ok, none", outcomes(a), a.Failed)
	}
}
