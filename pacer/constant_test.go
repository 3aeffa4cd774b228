package pacer

import (
	"math/big"
	"slices"
	"testing"
	"time"
)

// One day and every second of an hour have exactly the asked number of
// arrivals, at rates whose period is no whole number of nanoseconds too.
func TestConstantCount(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rate   Constant
		second uint64 // arrivals in two seconds
		day    uint64
	}{
		{Constant{1, 2 * time.Second}, 1, 43200},
		{Constant{7, time.Second}, 14, 7 * 86400},
		{Constant{333, time.Second}, 666, 333 * 86400},
		{Constant{999, time.Second}, 1998, 999 * 86400},
		{Constant{1001, time.Second}, 2002, 1001 * 86400},
		{Constant{30011, time.Second}, 60022, 30011 * 86400},
		{Constant{6000, time.Minute}, 200, 100 * 86400},
		{Constant{700000, time.Second}, 1400000, 700000 * 86400},
		{Constant{1e9, time.Second}, 2e9, 1e9 * 86400},
	} {
		var before uint64
		for at := 2 * time.Second; at <= time.Hour; at += 2 * time.Second {
			n, _ := Count(tt.rate, at, 0)
			if n-before != tt.second {
				t.Fatalf("%v: %d arrivals in the 2 s before %s, want %d", tt.rate, n-before, at, tt.second)
			}
			before = n
		}
		if n, ok := Count(tt.rate, 24*time.Hour, 0); n != tt.day || !ok {
			t.Errorf("%v: %d arrivals in a day, want %d", tt.rate, n, tt.day)
		}
	}
}

func TestConstantOffsets(t *testing.T) {
	t.Parallel()
	want := []time.Duration{0, 3003003, 6006006, 9009009, 12012012}
	if got := offsets(t, Constant{333, time.Second}, 5); !slices.Equal(got, want) {
		t.Errorf("offsets of 333/s = %d, want %d", got, want)
	}
	if got := offsets(t, Constant{}, 5); len(got) != 0 {
		t.Errorf("offsets of no rate = %d, want none", got)
	}
}

// Far out the offset is still k*Per/N, rounded down: nothing accumulates.
func TestConstantNoDrift(t *testing.T) {
	t.Parallel()
	for _, c := range []Constant{{700000, time.Second}, {333, time.Second}, {7, 3 * time.Minute}, {999999937, time.Second}} {
		const far = 86400 * 700000
		s := &gridSchedule{g: &segment{end: 1 << 63, n: c.N, per: uint64(c.Per)}, next: far, step: 1}
		if c.Per > time.Second {
			s.next = 1 << 20
		}
		for range 1000 {
			k, at, _ := s.Next()
			want := new(big.Int).Mul(new(big.Int).SetUint64(k), big.NewInt(int64(c.Per)))
			want.Quo(want, new(big.Int).SetUint64(c.N))
			if want.Int64() != int64(at) {
				t.Fatalf("%v: arrival %d at %d, want %d", c, k, at, want)
			}
		}
	}
	if at, _ := (&segment{end: 1 << 63, n: 700000, per: 1e9}).at(86400 * 700000); at != 24*time.Hour {
		t.Errorf("700000/s: the first arrival of the second day is at %s, want 24h", at)
	}
}
