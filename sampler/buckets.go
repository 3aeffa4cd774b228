package sampler

import (
	"math/bits"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// unitBits is the width of the smallest bucket as a power of two: 512 ns, what
// HdrHistogram makes of a lowest value of 1 us.
const unitBits = 9

// buckets are the counts of a histogram, laid out as HdrHistogram lays them
// out, so that its encoding can be made of them. They know which of them are in
// use: merging and emptying the histograms of a window takes a moment, where
// walking through all of their 25,000 buckets takes most of a millisecond,
// which would disturb the pace of a loop on the same core.
type buckets struct {
	halfBits uint // half of the buckets of a power of two, as a power of two
	counts   []uint64
	low      int // first bucket in use
	end      int // behind the last one; 0 while there is none
}

// newBuckets returns empty buckets for values up to an hour with that many
// significant digits, 2 or 3.
func newBuckets(digits int) *buckets {
	b := &buckets{halfBits: 10}
	if digits == 2 {
		b.halfBits = 7
	}
	b.counts = make([]uint64, b.index(uint64(highest))+1)
	return b
}

// index returns the bucket of v.
func (b *buckets) index(v uint64) int {
	mask := uint64(1)<<(b.halfBits+1+unitBits) - 1
	power := uint(64-bits.LeadingZeros64(v|mask)) - unitBits - (b.halfBits + 1)
	return int(power<<b.halfBits + uint(v>>(power+unitBits)))
}

// top returns the greatest value of bucket i.
func (b *buckets) top(i int) uint64 {
	power, sub := uint(0), uint64(i)
	if p := uint(i) >> b.halfBits; p > 1 {
		power = p - 1
		sub = uint64(i) - uint64(power)<<b.halfBits
	}
	return (sub+1)<<(power+unitBits) - 1
}

// add counts n values like v, which is at most an hour.
func (b *buckets) add(v uint64) {
	i := b.index(v)
	b.counts[i]++
	if b.end == 0 {
		b.low, b.end = i, i+1
		return
	}
	b.low, b.end = min(b.low, i), max(b.end, i+1)
}

// merge adds all counts of from, which has the same number of digits.
func (b *buckets) merge(from *buckets) {
	if from.end == 0 {
		return
	}
	for i := from.low; i < from.end; i++ {
		b.counts[i] += from.counts[i]
	}
	if b.end == 0 {
		b.low, b.end = from.low, from.end
		return
	}
	b.low, b.end = min(b.low, from.low), max(b.end, from.end)
}

func (b *buckets) reset() {
	clear(b.counts[b.low:b.end])
	b.low, b.end = 0, 0
}

// at returns the greatest value of the bucket that holds rank k, from 1.
func (b *buckets) at(k uint64) uint64 {
	var n uint64
	for i := b.low; i < b.end; i++ {
		if n += b.counts[i]; n >= k {
			return b.top(i)
		}
	}
	return 0
}

// export returns the histogram in the library's form.
func (b *buckets) export(digits int) *hdrhistogram.Histogram {
	s := &hdrhistogram.Snapshot{LowestTrackableValue: int64(lowest), HighestTrackableValue: int64(highest), SignificantFigures: int64(digits)}
	s.Counts = make([]int64, len(b.counts))
	for i := b.low; i < b.end; i++ {
		s.Counts[i] = int64(b.counts[i])
	}
	return hdrhistogram.Import(s)
}
