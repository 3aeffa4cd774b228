package sampler

import (
	"iter"
	"time"
)

// A View is a run as it stands. Its distributions are the sampler's own: they
// may be read until the function that got the View returns.
type View struct {
	Streams  []StreamView
	Loops    int     // how many there are
	PeakOpen int     // connections: sum of the loops' peaks
	MaxBurst int     // connections opened in one pass of a loop
	Busy     float64 // as in Result
	Ended    bool    // nothing will change any more

	base    time.Duration
	windows []WindowSet
}

// A StreamView is one stream as it stands. Totals leaves the warm-up out.
type StreamView struct {
	Totals
	WarmupTimes Times
	Inflight    int // arrivals open now
	Connections int // connections open now, those still connecting included
}

// View calls see with what was handed over so far: during a run it is no older
// than a base interval, or 100 ms after a call of Live. Nothing is copied, so
// that a look costs little; instead merging waits until see returns. see must
// not call methods of the sampler. Recorders go on, unless see takes so long
// that more than 16 pages a loop wait.
func (s *Sampler) View(see func(v *View)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := View{Loops: s.o.Loops, MaxBurst: s.burst, Ended: s.ended, base: s.o.Base, windows: s.windows}
	for i := range s.works {
		w := &s.works[i]
		v.PeakOpen += w.peak
		if w.load.span >= shortest {
			v.Busy = max(v.Busy, w.load.share())
		}
	}
	for i := range s.streams {
		t := &s.streams[i]
		now := StreamView{
			Totals:      Totals{Name: t.name, Tally: t.main.Tally, Warmup: t.warm.Tally, Times: t.main.shareTimes()},
			WarmupTimes: t.warm.shareTimes(),
		}
		for _, g := range t.at {
			now.Inflight += g.inflight
			now.Connections += g.open
		}
		v.Streams = append(v.Streams, now)
	}
	see(&v)
}

// shareTimes is copyTimes without a copy of the histograms.
func (p *part) shareTimes() Times {
	t := &p.times
	return Times{
		Latency: t[latency], Service: t[service], Lag: t[lag], Wait: t[wait], Connect: t[connect], TLS: t[tlsTime],
		FirstByte: t[firstByte], Transfer: t[transfer], Lifetime: t[lifetime], Failure: t[failure], Good: t[goodLatency],
		Session: t[sessionTime],
	}
}

// Judge returns the verdicts that Result.Judge gives once the run has ended.
// Before, arrivals that are due and not yet taken are left aside, and the
// accounts are not checked: what is still open is in none of them.
func (v *View) Judge(closed bool) (Verdict, []Verdict) {
	r := Result{Base: v.base, Windows: v.windows, Busy: v.Busy}
	for i := range v.Streams {
		r.Streams = append(r.Streams, v.Streams[i].Totals)
		t := &r.Streams[i]
		if !v.Ended {
			t.Scheduled = t.Started + t.ShedTotal()
		}
		r.All.Tally.Merge(&t.Tally)
		r.All.Warmup.Merge(&t.Warmup)
		if len(v.Streams) > 1 {
			// Of all times these alone are looked at.
			r.All.Times.Lag.Merge(&t.Times.Lag)
			r.All.Times.Latency.Merge(&t.Times.Latency)
		} else {
			r.All.Times = t.Times
		}
	}
	all, each := r.Judge(closed)
	if !v.Ended {
		all.unaccounted()
		for i := range each {
			each[i].unaccounted()
		}
	}
	return all, each
}

// unaccounted takes back what was said about the accounts.
func (v *Verdict) unaccounted() {
	kept := Verdict{}
	for _, r := range v.Reasons {
		if r.Code != "accounting" {
			kept.Status = max(kept.Status, r.Status)
			kept.Reasons = append(kept.Reasons, r)
		}
	}
	*v = kept
}

// Buckets yields the buckets of the histogram that hold values, in ascending
// order: the greatest value of each, and how many values it holds. A bucket is
// 512 ns wide, or wider where the significant digits allow it. Values beyond
// the histogram's hour are in the last bucket.
func (d *Dist) Buckets() iter.Seq2[time.Duration, uint64] {
	return func(yield func(time.Duration, uint64) bool) {
		if d.h == nil {
			return
		}
		for i := d.h.low; i < d.h.end; i++ {
			if n := d.h.counts[i]; n > 0 && !yield(time.Duration(d.h.top(i)), n) {
				return
			}
		}
	}
}
