package pacer

import (
	"slices"
	"testing"
	"time"
)

func TestStepsOffsets(t *testing.T) {
	t.Parallel()
	k := func(n uint64, per time.Duration) Constant { return Constant{n, per} }
	for _, tt := range []struct {
		name string
		s    Steps
		want []time.Duration
	}{
		{"last rate holds", Steps{{k(1, 10), 30}, {k(1, 5), 5}}, []time.Duration{0, 10, 20, 30, 35, 40, 45, 50}},
		{"pause", Steps{{k(1, 10), 20}, {k(0, 0), 100}, {k(1, 5), 0}}, []time.Duration{0, 10, 120, 125}},
		{"begins with a pause", Steps{{k(0, 1), 7}, {k(1, 5), 0}}, []time.Duration{7, 12, 17}},
		// 2.5 arrivals in the first step: the third is half a gap into the
		// second, where half a gap is 2.
		{"carries a part", Steps{{k(1, 10), 25}, {k(1, 4), 0}}, []time.Duration{0, 10, 20, 27, 31, 35}},
		{"ends", Steps{{k(1, 10), 25}, {k(0, 1), 0}}, []time.Duration{0, 10, 20}},
		{"a step without an arrival", Steps{{k(1, 10), 12}, {k(1, 10), 3}, {k(1, 5), 0}}, []time.Duration{0, 10, 17, 22}},
		{"no time at all", Steps{{k(1, 10), 0}, {k(1, 3), 0}}, []time.Duration{0, 3, 6}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := offsets(t, tt.s, len(tt.want)+3)
			if len(got) < len(tt.want) || !slices.Equal(got[:len(tt.want)], tt.want) {
				t.Errorf("offsets = %d, want %d", got, tt.want)
			}
			if last := tt.s[len(tt.s)-1]; last.Rate.N == 0 && len(got) != len(tt.want) {
				t.Errorf("%d arrivals, want %d", len(got), len(tt.want))
			}
		})
	}
}

// A rate that is cut into steps is the same rate.
func TestStepsOfOneRate(t *testing.T) {
	t.Parallel()
	c := Constant{333, time.Second}
	s := Steps{{c, time.Millisecond}, {c, 123457}, {c, 99 * time.Millisecond}, {c, 0}}
	if got, want := offsets(t, s, 10000), offsets(t, c, 10000); !slices.Equal(got, want) {
		t.Errorf("steps of one rate differ from the rate")
	}
}

func TestStepsCount(t *testing.T) {
	t.Parallel()
	s := Steps{{Constant{999, time.Second}, 10 * time.Second}, {Constant{30011, time.Second}, 10 * time.Second}, {Constant{1, 2 * time.Second}, 0}}
	for _, tt := range []struct {
		d    time.Duration
		want uint64
	}{
		{10 * time.Second, 9990},
		{20 * time.Second, 9990 + 300110},
		{20*time.Second + 1, 9990 + 300111},
		{24 * time.Second, 9990 + 300112},
	} {
		if n, ok := Count(s, tt.d, 0); n != tt.want || !ok {
			t.Errorf("Count before %s = %d, want %d", tt.d, n, tt.want)
		}
	}
}
