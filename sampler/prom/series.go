package prom

import (
	"httpgen/internal/poll"
	"httpgen/sampler"
)

// A pair names what the series of a stream are labelled with.
type pair struct{ client, target string }

// other stands for all label values that have no series of their own.
const other = "other"

// maxPairs is how many pairs of client and target have series of their own:
// each costs about 330.
const maxPairs = 64

// A total is what one pair has done.
type total struct {
	sampler.Tally
	good  uint64 // replies
	times [numTimes]histogram
}

// add adds what a stream has done, its warm-up included.
func (t *total) add(v *sampler.StreamView, judged bool, turn *poll.Turn) {
	t.Merge(&v.Tally)
	t.Merge(&v.Warmup)
	if judged {
		t.good += v.Times.Good.Count() + v.WarmupTimes.Good.Count()
	} else {
		t.good += v.Replies + v.Warmup.Replies
	}
	for i := range timings {
		t.times[i].add(timings[i].of(&v.Times))
		t.times[i].add(timings[i].of(&v.WarmupTimes))
		turn.Pass()
	}
}

// A series is everything that is shown of one pair.
type series struct {
	pair
	past total // of the runs that have ended
	now  total // with the attached run
	level
}

// A level is what one pair does now.
type level struct {
	inflight   int
	connecting int
	connected  int
	weight     float64
	rate       float64
	verdict    sampler.Status // the worst of its streams
	current    bool           // the newest run has it
}

// add adds how a stream stands. An opening connection is one that was begun and
// is neither established nor failed; those that were so when the run ended are
// open no more.
func (l *level) add(v *sampler.StreamView, verdict sampler.Status) {
	l.inflight += v.Inflight
	begun := v.Attempted + v.Warmup.Attempted
	settled := v.Established + v.Warmup.Established + v.Failed + v.Warmup.Failed
	opening := min(max(0, int(begun)-int(settled)), max(0, v.Connections))
	l.connecting += opening
	l.connected += v.Connections - opening
	l.verdict = max(l.verdict, verdict)
}
