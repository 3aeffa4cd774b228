package target

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestStatsText(t *testing.T) {
	t.Parallel()
	s := Stats{
		Counters:    Counters{Accepted: 9, Requests: 30, Replies: 20, Rejected: 4, Resets: 1, Bad: 2, Abandoned: 3, BytesIn: 1000, BytesOut: 2000},
		Open:        5,
		PeakWaiting: 6,
		Starved:     7,
		Served:      250,
		Saturated:   2500 * time.Millisecond,
		LateMean:    40 * time.Microsecond,
		LateMax:     1234 * time.Microsecond,
		Capacity:    400,
		Lowest:      200,
		Collapses:   2,
		Err:         errors.New("target: wait: no"),
		Sources: map[netip.Addr]Counters{
			netip.MustParseAddr("127.0.0.10"): {Accepted: 1, Requests: 2, Replies: 3, Rejected: 4},
			netip.MustParseAddr("127.0.0.9"):  {Accepted: 5, Requests: 6, Replies: 7, Rejected: 8},
			{}:                                {Accepted: 9},
		},
	}
	const want = `connections: accepted 9 open 5 bad 2 starved 7
requests: 30 replies 20 rejected 4 (1 reset) abandoned 3 unanswered 3
bytes: received 1000 sent 2000
waiting: peak 6
late [ms]: mean 0.040 max 1.234
saturated: 250 replies in 2.500 s = 100.0 replies/s
capacity: 400.0/s lowest 200.0/s collapses 2
ended: target: wait: no
source       accepted   requests    replies   rejected
unix                9          0          0          0
127.0.0.9           5          6          7          8
127.0.0.10          1          2          3          4
`
	if got := s.String(); got != want {
		t.Errorf("String() = \n%s\nwant\n%s", got, want)
	}
}

func TestStatsTextIsBounded(t *testing.T) {
	t.Parallel()
	s := Stats{Sources: make(map[netip.Addr]Counters)}
	for i := range 70 {
		s.Sources[netip.AddrFrom4([4]byte{127, 0, 0, byte(i)})] = Counters{}
	}
	got := s.String()
	if n := strings.Count(got, "\n127."); n != 64 {
		t.Errorf("%d sources printed, want 64", n)
	}
	for _, want := range []string{"and 6 more\n", "saturated: never\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no line %q in\n%s", want, got)
		}
	}
	if s.Rate() != 0 {
		t.Errorf("Rate() = %v without saturation, want 0", s.Rate())
	}
	var w failing
	if _, err := s.WriteTo(w); !errors.Is(err, errWrite) {
		t.Errorf("WriteTo = %v, want the writer's error", err)
	}
}

var errWrite = fmt.Errorf("full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errWrite }
