//go:build !race

package accesslog

import (
	"strings"
	"testing"
)

func TestParseDoesNotAllocate(t *testing.T) {
	line := []byte(seeds[1])
	buf := make([]byte, len(line))
	var r record
	if n := testing.AllocsPerRun(1000, func() {
		copy(buf, line)
		r.parse(buf)
	}); n != 0 {
		t.Errorf("parse allocates %v times, want 0", n)
	}
}

func TestNextDoesNotAllocate(t *testing.T) {
	text := strings.Repeat(get("1000000000", "/")+get("1000000001", "/"), 2000)
	for _, spread := range []bool{false, true} {
		s := openLog(t, text, Options{Spread: spread}).Process(1.1).Schedule(1, 2, 0)
		if n := testing.AllocsPerRun(1000, func() { s.Next() }); n != 0 {
			t.Errorf("spread %t: Next allocates %v times, want 0", spread, n)
		}
	}
}
