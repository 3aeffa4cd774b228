package sampler

import (
	"slices"
	"time"
)

// Times holds the distributions of one stream or run.
type Times struct {
	Latency   Dist // reply complete - intended, of calls with a reply
	Service   Dist // reply complete - started, of calls with a reply
	Lag       Dist // taken - intended, of started arrivals
	Wait      Dist // started - taken, of arrivals of a pool
	Connect   Dist // of established connections
	TLS       Dist // of completed handshakes
	FirstByte Dist // from the last request byte, of calls with a reply
	Transfer  Dist // first byte to last, of calls with a reply
	Lifetime  Dist // of connections with a reply
	Failure   Dist // started to failed, of arrivals that ended in an error
	Good      Dist // latency of replies that were judged and as expected
	Session   Dist // started to ended, of sessions that ended well
}

// Totals is what a stream or a run has done.
type Totals struct {
	Name   string // of the stream, empty for the whole run
	Tally         // after the warm-up
	Warmup Tally  // within it
	Times  Times  // after the warm-up

	Followed      time.Duration // longest that an unfinished arrival was open from its intended start, after the warm-up
	Lengths       Lengths       // of sessions, after the warm-up
	WarmupLengths Lengths       // within it
}

// Result is a consistent copy of everything.
type Result struct {
	All         Totals
	Streams     []Totals // one or more
	Windows     []WindowSet
	Base        time.Duration
	PeakOpen    int     // connections: sum of the loops' peaks
	MaxBurst    int     // connections opened in one pass of a loop
	Busy        float64 // share of a core that the busiest loop worked, from the warm-up to its last scheduled arrival; 0 if that is under 100 ms
	Inflight    int     // arrivals open now
	Connections int     // connections open now
}

// shortest is how long a loop has to run until its share of a core says more
// about the load than about the first connection.
const shortest = 100 * time.Millisecond

func (p *part) copyTimes() Times {
	t := &p.times
	return Times{
		Latency: t[latency].Clone(), Service: t[service].Clone(), Lag: t[lag].Clone(), Wait: t[wait].Clone(),
		Connect: t[connect].Clone(), TLS: t[tlsTime].Clone(), FirstByte: t[firstByte].Clone(),
		Transfer: t[transfer].Clone(), Lifetime: t[lifetime].Clone(), Failure: t[failure].Clone(), Good: t[goodLatency].Clone(),
		Session: t[sessionTime].Clone(),
	}
}

func (t *Times) merge(from *Times) {
	for _, d := range []struct{ into, from *Dist }{
		{&t.Latency, &from.Latency}, {&t.Service, &from.Service}, {&t.Lag, &from.Lag}, {&t.Wait, &from.Wait},
		{&t.Connect, &from.Connect}, {&t.TLS, &from.TLS}, {&t.FirstByte, &from.FirstByte},
		{&t.Transfer, &from.Transfer}, {&t.Lifetime, &from.Lifetime}, {&t.Failure, &from.Failure}, {&t.Good, &from.Good},
		{&t.Session, &from.Session},
	} {
		d.into.Merge(d.from)
	}
}

// Snapshot returns everything handed over so far. During a run it is no older
// than a base interval, or 100 ms after a call of Live; after Wait it is final.
func (s *Sampler) Snapshot() *Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &Result{Base: s.o.Base, MaxBurst: s.burst, Windows: slices.Clone(s.windows)}
	for i := range s.streams {
		t := &s.streams[i]
		r.Streams = append(r.Streams, Totals{Name: t.name, Tally: t.main.Tally, Warmup: t.warm.Tally, Times: t.main.copyTimes(),
			Followed: t.main.followed, Lengths: slices.Clone(t.main.lengths), WarmupLengths: slices.Clone(t.warm.lengths)})
		for _, g := range t.at {
			r.Inflight += g.inflight
			r.Connections += g.open
		}
		r.All.Tally.Merge(&t.main.Tally)
		r.All.Warmup.Merge(&t.warm.Tally)
		r.All.Times.merge(&r.Streams[i].Times)
		r.All.Followed = max(r.All.Followed, t.main.followed)
		r.All.Lengths.merge(t.main.lengths)
		r.All.WarmupLengths.merge(t.warm.lengths)
	}
	for i := range s.works {
		w := &s.works[i]
		r.PeakOpen += w.peak
		if w.load.span >= shortest {
			r.Busy = max(r.Busy, w.load.share())
		}
	}
	return r
}
