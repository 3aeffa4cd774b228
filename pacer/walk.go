package pacer

import (
	"math"
	"math/rand/v2"
	"time"
)

// A walk steps through a random process from its start. Every part draws all
// the gaps and keeps its own arrivals, so the parts agree whatever their
// number.
type walk struct {
	rng    *rand.Rand
	index  uint64        // of the next arrival
	at     time.Duration // of the next arrival
	skip   uint64        // arrivals of other parts before the next of this one
	others uint64        // parts beside this one
	done   bool
}

func newWalk(shard, shards int, seed uint64) walk {
	return walk{rng: newRand(seed), skip: uint64(shard), others: uint64(shards) - 1}
}

// mine reports whether the next arrival is one of this part.
func (w *walk) mine() bool {
	if w.skip > 0 {
		w.skip--
		return false
	}
	w.skip = w.others
	return true
}

// advance puts the next arrival gap later.
func (w *walk) advance(gap time.Duration) {
	if gap > math.MaxInt64-w.at {
		w.done = true
		return
	}
	w.at += gap
	w.index++
}

// Err implements Schedule.
func (w *walk) Err() error { return nil }

// newRand returns the source of a seed. PCG takes its two seed words as they
// are, and sources with one word in common share half their state: both words
// come from the whole seed.
func newRand(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(mix(seed), mix(^seed)))
}

// mix is a bijection in which every bit of the input moves half of the output
// (the finalizer of SplitMix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
