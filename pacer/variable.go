package pacer

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"time"
)

// A Gap is one entry of Variable.
type Gap struct {
	Every time.Duration // from one arrival to the next, above 0
	For   time.Duration // how long, above 0
}

// Variable is a list of gaps, each used until the time it has taken reaches its
// For, then the next; after the last the first again, for ever. A For that is
// no multiple of the gap is therefore exceeded by the last gap. The first
// arrival is at offset 0, and the first gap follows it.
type Variable []Gap

// Schedule implements Process. The seed is not used.
func (v Variable) Schedule(shard, shards int, _ uint64) Schedule { return scheduleOf(v, shard, shards) }

// Rate implements Process: it is that of the gap which runs at at.
func (v Variable) Rate(at time.Duration) float64 {
	var length time.Duration
	for _, p := range v {
		_, taken, err := p.lay(length)
		if err != nil {
			return 0
		}
		length += taken
	}
	if length == 0 {
		return 0
	}
	at %= length
	i := 0
	for ; i < len(v)-1; i++ {
		_, taken, _ := v[i].lay(0)
		if at < taken {
			break
		}
		at -= taken
	}
	return float64(time.Second) / float64(v[i].Every)
}

// String returns v as Parse reads it, such as variable:100ms,2s,50ms,2s.
func (v Variable) String() string {
	parts := make([]string, len(v))
	for i, g := range v {
		parts[i] = g.Every.String() + "," + g.For.String()
	}
	return "variable:" + strings.Join(parts, ",")
}

func (v Variable) grid() (grid, error) {
	g, err := v.cycle()
	if err != nil {
		return nil, err
	}
	return g, nil
}

func (v Variable) ends() (time.Duration, uint64, bool) { return 0, 0, false }

// lay returns how many arrivals p has when it begins at start, and the time
// that they take.
func (p Gap) lay(start time.Duration) (n uint64, taken time.Duration, err error) {
	if p.Every <= 0 || p.For <= 0 {
		return 0, 0, fmt.Errorf("variable: gap of %s for %s: want both above 0", p.Every, p.For)
	}
	n = (uint64(p.For) + uint64(p.Every) - 1) / uint64(p.Every)
	hi, ns := bits.Mul64(n, uint64(p.Every))
	if hi > 0 || ns > uint64(math.MaxInt64-start) {
		return 0, 0, fmt.Errorf("variable: gap of %s for %s: the durations add up to more than %s", p.Every, p.For, time.Duration(math.MaxInt64))
	}
	return n, time.Duration(ns), nil
}

// cycle lays the list out once.
func (v Variable) cycle() (*cycle, error) {
	if len(v) == 0 {
		return nil, errors.New("variable: want at least one gap")
	}
	g := &cycle{segments: segments{list: make([]segment, len(v))}}
	for i, p := range v {
		n, taken, err := p.lay(g.length)
		if err != nil {
			return nil, err
		}
		g.list[i] = segment{first: g.n, end: g.n + n, start: g.length, n: 1, per: uint64(p.Every)}
		g.n += n
		g.length += taken
	}
	return g, nil
}

// cycle is a list of segments that repeats.
type cycle struct {
	segments
	n      uint64        // arrivals of one round
	length time.Duration // of one round
}

func (g *cycle) at(k uint64) (time.Duration, bool) {
	hi, base := bits.Mul64(k/g.n, uint64(g.length))
	if hi > 0 {
		return 0, false
	}
	at, ok := g.segments.at(k % g.n)
	if !ok || base > uint64(math.MaxInt64-at) {
		return 0, false
	}
	return time.Duration(base) + at, true
}
