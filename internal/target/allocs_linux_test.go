//go:build !race

package target

import (
	"net/netip"
	"testing"
	"time"

	"httpgen/internal/poll"
)

// Neither a request nor a connection allocates, on either side of the socket.
func TestNoAllocations(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Options
	}{
		{"at once", Options{}},
		{"workers", Options{Service: Constant(time.Microsecond), Workers: 1}},
		{"exponential", Options{Service: Exponential(time.Microsecond)}},
		{"capacity", Options{Capacity: maxCapacity}},
		{"collapse", Options{Capacity: maxCapacity, Collapse: Collapse{Kept: 0.5}}},
		{"shares", Options{Capacity: maxCapacity, Shares: []Share{{netip.MustParseAddr("127.0.0.1"), 1}, {netip.MustParseAddr("127.0.0.2"), 1}}}},
		{"late accept", Options{Service: Constant(time.Microsecond), Workers: 1, Overload: AcceptLate}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, tt.o)
			c := dial(t, s)
			request, reply := []byte(get), make([]byte, 4096)
			call := func() {
				if _, err := c.Write(request); err != nil {
					t.Fatal(err)
				}
				if _, err := c.Read(reply); err != nil {
					t.Fatal(err)
				}
			}
			if n := testing.AllocsPerRun(200, call); n != 0 {
				t.Errorf("%v allocations a call, want 0", n)
			}
			tt.o.Close = true
			a, err := poll.TCPAddr(netip.MustParseAddrPort(start(t, tt.o).Addr()))
			if err != nil {
				t.Fatal(err)
			}
			if n := testing.AllocsPerRun(200, func() { exchange(t, &a, request) }); n != 0 {
				t.Errorf("%v allocations a connection, want 0", n)
			}
		})
	}
}
