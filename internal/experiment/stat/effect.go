package stat

import (
	"fmt"
	"math"
)

// Decision is what a comparison says of an arm against the baseline.
type Decision uint8

// The decisions. None is an answer too: no difference was shown, which is not
// the same as there being none.
const (
	None      Decision = iota
	Worse              // a difference was shown, to the worse
	Better             // a difference was shown, to the better
	Identical          // every block gave both arms the same value
)

// String returns the word of the contract.
func (d Decision) String() string { return [...]string{"none", "worse", "better", "identical"}[d] }

// CompareOptions says how arms are compared. The zero value compares a metric
// of which less is better at a level of 95 %, without a test of equivalence.
type CompareOptions struct {
	Baseline     int     // index of the arm that the others are compared with
	HigherBetter bool    // as for goodput; latency, errors and CPU are better low
	Level        float64 // confidence; 0 means 0.95
	Margin       float64 // equivalence: the largest ratio that does not matter is 1 + Margin; 0 means not asked
}

func (o *CompareOptions) validate(arms int) (err error) {
	if o.Level, err = level(o.Level); err != nil {
		return err
	}
	if o.Baseline < 0 || o.Baseline >= arms {
		return fmt.Errorf("stat: baseline %d: want an arm, 0 to %d", o.Baseline, arms-1)
	}
	if !(o.Margin >= 0 && o.Margin <= 10) {
		return fmt.Errorf("stat: equivalence margin %v: want 0 to 10 (0.02 is 2 %%)", o.Margin)
	}
	return nil
}

// An Effect is one metric of one arm against the baseline's, as a ratio.
type Effect struct {
	Arm         int
	Ratio       float64 // typical ratio of the arm to the baseline, 1 is no difference
	Low, High   float64 // its interval; 0 and +Inf when there are too few blocks for one
	Level       float64 // of the interval, for this arm alone
	P           float64 // exact two-sided signed-rank test
	PHolm       float64 // P, adjusted for the number of arms; the decision follows this one
	Size        float64 // attainable size of the test: how often it calls equal arms different
	Blocks      int
	Decision    Decision
	Reason      string // why the decision is what it is
	Equivalence *Equivalence
	Resolution  Resolution // of this arm against the baseline
}

// Effects compares each arm with the baseline. values[arm][block] is the
// metric of the trial of that arm in that block: not negative, +Inf where it
// is infinitely late. Effects come in the order of the arms.
//
// The test and the interval work on the logarithms of the ratios within a
// block. Two infinite values, or two zeros, count as no difference; one of
// them as a difference larger than any finite one.
func Effects(values [][]float64, o CompareOptions) ([]Effect, error) {
	if err := o.validate(len(values)); err != nil {
		return nil, err
	}
	var effects []Effect
	var tests []SignedRank
	var p []float64
	for arm := range values {
		if arm == o.Baseline {
			continue
		}
		d, err := logRatios(values[o.Baseline], values[arm])
		if err != nil {
			return nil, fmt.Errorf("stat: arm %d against arm %d: %w", arm, o.Baseline, err)
		}
		test, shifter := NewSignedRank(d), NewShifter(d)
		shift := shifter.Shift(o.Level)
		e := Effect{
			Arm:   arm,
			Ratio: math.Exp(shift.Value), Low: math.Exp(shift.Low), High: math.Exp(shift.High), Level: o.Level,
			P: test.P, Size: test.Size(1 - o.Level), Blocks: len(d),
			Resolution: resolution(d, shift, o.Level, len(values)-1),
		}
		if o.Margin > 0 {
			q := equivalence(shifter, len(d), o.Margin, o.Level)
			e.Equivalence = &q
		}
		effects, tests, p = append(effects, e), append(tests, test), append(p, test.P)
	}
	for i, adjusted := range Holm(p) {
		effects[i].PHolm = adjusted
		effects[i].decide(tests[i], len(p), o)
	}
	return effects, nil
}

// decide fills Decision and Reason.
func (e *Effect) decide(test SignedRank, comparisons int, o CompareOptions) {
	alpha := 1 - o.Level
	higher := test.W > float64(test.N*(test.N+1))/4
	switch need := MinBlocks(comparisons, alpha); {
	case test.N == 0:
		e.Decision = Identical
		e.Reason = fmt.Sprintf("all %d blocks gave both arms the same value", e.Blocks)
	case e.PHolm > alpha && e.Blocks < need:
		e.Reason = fmt.Sprintf("%d blocks cannot decide %d comparisons: at least %d are needed", e.Blocks, comparisons, need)
	case e.PHolm > alpha:
		e.Reason = fmt.Sprintf("p %.3g after Holm is above %.3g", e.PHolm, alpha)
	default:
		e.Decision = Worse
		if higher == o.HigherBetter {
			e.Decision = Better
		}
		e.Reason = fmt.Sprintf("p %.3g after Holm is at most %.3g", e.PHolm, alpha)
	}
}

// logRatios returns the logarithm of arm over base, block by block.
func logRatios(base, arm []float64) ([]float64, error) {
	if len(base) != len(arm) || len(base) < 1 || len(base) > MaxBlocks {
		return nil, fmt.Errorf("%d and %d blocks: want the same number, 1 to %d", len(arm), len(base), MaxBlocks)
	}
	// beyond stands for an infinite difference: any two of opposite sign
	// cancel, and beside it every finite one vanishes.
	const beyond = 1e100
	d := make([]float64, len(base))
	for i := range d {
		for _, v := range []float64{base[i], arm[i]} {
			if !(v >= 0) {
				return nil, fmt.Errorf("value %v in block %d: want 0 or more", v, i)
			}
		}
		if base[i] != arm[i] {
			// The difference of logarithms changes nothing but its sign when
			// the arms change places; the logarithm of the ratio may.
			d[i] = max(-beyond, min(beyond, math.Log(arm[i])-math.Log(base[i])))
		}
	}
	return d, nil
}

// Gate is what a limit on a change for the worse makes of an effect.
type Gate uint8

// The outcomes of a gate.
const (
	GateKept      Gate = iota // the whole interval is within the limit
	GateUndecided             // the interval holds the limit
	GateBroken                // the whole interval is worse than the limit
)

// String returns "kept", "undecided" or "broken".
func (g Gate) String() string { return [...]string{"kept", "undecided", "broken"}[g] }

// Gate compares the interval with the largest change for the worse that is
// allowed: 0.05 allows a latency 5 % higher or a goodput 5 % lower.
func (e Effect) Gate(allow float64, higherBetter bool) Gate {
	low, high, limit := e.Low, e.High, 1+allow
	if higherBetter {
		low, high, limit = -e.High, -e.Low, -(1 - allow)
	}
	switch {
	case low > limit:
		return GateBroken
	case high <= limit:
		return GateKept
	}
	return GateUndecided
}
