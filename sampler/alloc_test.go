//go:build !race

package sampler

import (
	"testing"
	"time"
)

func TestRecordingDoesNotAllocate(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Options
	}{
		{"one stream", Options{Loops: 1, Base: time.Hour}},
		{"four streams", Options{Loops: 1, Base: time.Hour, Streams: []string{"a", "b", "c", "d"}}},
		{"2 digits", Options{Loops: 1, Base: time.Hour, Streams: make([]string, 20)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSampler(t, tt.o)
			r := s.Recorder(0, silent{})
			now := time.Duration(0)
			if n := testing.AllocsPerRun(1000, func() {
				now += micro
				oneArrival(r, now)
				r.Start(0, false, now, now, now, milli, true)
				r.Arrival(&Arrival{Ended: now, Outcome: Reset, Planned: 1, Unanswered: 1})
				r.Shed(0, false, now, now, ShedLate)
			}); n != 0 {
				t.Errorf("recording allocates %v times an arrival, want 0", n)
			}
		})
	}
}

// A window's page comes back from the sampler, so closing windows costs the
// loop nothing either.
func TestRollDoesNotAllocate(t *testing.T) {
	s := newSampler(t, Options{Loops: 1, Base: milli})
	r := s.Recorder(0, silent{})
	now := time.Duration(0)
	roll := func() {
		now += milli
		r.Roll(now)
		p := <-s.pages
		s.give(p)
	}
	if n := testing.AllocsPerRun(1000, roll); n != 0 {
		t.Errorf("Roll allocates %v times a window, want 0", n)
	}
}
