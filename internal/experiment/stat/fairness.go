package stat

import (
	"fmt"
	"math"
)

// A Tally is what one client did in one window or one repeat.
type Tally struct {
	Offered float64 // arrivals due
	Good    float64 // good replies
}

// Sharing is what a fairness experiment says.
type Sharing uint8

// The decisions.
const (
	SharesNotSaturated Sharing = iota // there was enough for all, or too little load to tell: no claim
	SharesFair                        // every client's share is what is due to it, to within the margin
	SharesUnfair                      // some client's share is not
	SharesUndecided                   // an interval holds the margin
)

// String returns the word of the contract.
func (s Sharing) String() string {
	return [...]string{"not_saturated", "fair", "unfair", "undecided"}[s]
}

// The least data for an interval: repeats are independent, windows of one run
// are not.
const (
	minRepeats   = 6
	minWindows   = 50
	minEffective = 6
)

// saturation is how much more than there was must have been offered.
const saturation = 1.05

// FairOptions says what the blocks of a fairness experiment are. The zero value
// means windows of one run, a margin of 2 percentage points and a level of 95 %.
type FairOptions struct {
	Margin  float64 // largest share error that is still fair; 0 means 0.02
	Level   float64 // confidence; 0 means 0.95
	Repeats bool    // the blocks are separate runs
	Limited bool    // the generator was the limit in some second
}

// A ClientShare is what one client got and what was due to it.
type ClientShare struct {
	Share     float64 // of all good replies
	DueShare  float64 // weighted max-min share of them
	Due       float64 // good replies due, over all blocks
	Ratio     float64 // good replies over Due
	Error     float64 // Share - DueShare
	Low, High float64 // interval of Error that holds for all clients at once; infinite without one
}

// Fairness is the answer of a fairness experiment.
type Fairness struct {
	Decision      Sharing
	Reason        string
	Saturated     bool
	MaxShareError float64 // largest |Error|
	MinMaxRatio   float64 // smallest Ratio over the largest
	Jain          float64 // weighted index of the Ratios
	JainLow       float64 // its interval; 0 and 1 without one
	JainHigh      float64
	WorstBlock    float64 // index of the worst block
	WorstExpected float64 // what it exceeds in 95 % of the experiments on a server that is fair on average but serves in random order
	BlockLength   int     // windows that count as one independent one
	Effective     float64 // independent blocks that the data amount to
	Clients       []ClientShare
}

// NewFairness evaluates blocks[block][client]: full windows in which all
// clients were sending, or whole repeats.
//
// Windows follow each other, so their number is corrected for the correlation
// of neighbours: n(1-r)/(1+r) of them count. Source: Bayley and Hammersley,
// "The 'effective' number of independent observations in an autocorrelated
// time series", Supplement to the Journal of the Royal Statistical Society 8,
// 1946; r corrected for its bias as in Marriott and Pope, "Bias in the
// estimation of autocorrelations", Biometrika 41, 1954.
//
// Fair needs every client's interval at 1-2 alpha within the margin, which is
// two one-sided tests for each and no correction for their number, since all
// have to pass. Unfair needs one client's interval outside, and there
// Bonferroni's correction for the number of clients. By simulation (2000
// experiments of 60 windows, correlation up to 0.5) a server at the margin is
// called fair in at most 4.4 % and unfair in at most 2.1 % of them, and the
// interval of the index, which is on the safe side, holds it in 98 % or more.
func NewFairness(weights []float64, blocks [][]Tally, o FairOptions) (Fairness, error) {
	var err error
	if o.Level, err = level(o.Level); err != nil {
		return Fairness{}, err
	}
	if o.Margin == 0 {
		o.Margin = 0.02
	}
	if !(o.Margin > 0 && o.Margin < 1) {
		return Fairness{}, fmt.Errorf("stat: share margin %v: want more than 0 and less than 1", o.Margin)
	}
	total, err := sum(weights, blocks)
	if err != nil {
		return Fairness{}, err
	}
	f := Fairness{Clients: make([]ClientShare, len(weights)), JainHigh: 1, MinMaxRatio: 1, BlockLength: 1}
	offered, good := demands(total)
	due := fill(good, offered, weights)
	ratios := make([]float64, len(weights))
	smallest, largest, greedy := math.Inf(1), 0.0, 0
	for i := range f.Clients {
		c := &f.Clients[i]
		c.Low, c.High = math.Inf(-1), math.Inf(1)
		c.Due = due[i]
		if good > 0 {
			c.Share, c.DueShare = total[i].Good/good, due[i]/good
			c.Ratio = total[i].Good / due[i]
		}
		c.Error = c.Share - c.DueShare
		ratios[i] = c.Ratio
		smallest, largest = min(smallest, c.Ratio), max(largest, c.Ratio)
		f.MaxShareError = max(f.MaxShareError, math.Abs(c.Error))
		if offered[i] >= saturation*due[i] {
			greedy++
		}
	}
	f.Jain = Jain(ratios, weights)
	if largest > 0 {
		f.MinMaxRatio = smallest / largest
	}
	f.worst(weights, blocks, good)
	spread := f.intervals(weights, blocks, good, o)

	all := 0.0
	for _, d := range offered {
		all += d
	}
	switch {
	case good == 0:
		f.Reason = "there was no good reply"
	case o.Limited:
		f.Reason = "the generator was the limit in some second"
	case all < saturation*good:
		f.Reason = fmt.Sprintf("%.1f %% of what was offered was served: too little load", 100*good/all)
	case greedy < 2:
		// One that takes what others ask for is unfair all the same. That nobody
		// was hurt while only one was short of anything is no proof of fairness.
		if f.decide(spread, blocks, o); f.Decision == SharesUnfair {
			f.Saturated = true
			break
		}
		f.Decision = SharesNotSaturated
		f.Reason = fmt.Sprintf("%d of %d clients wanted more than was due to them: at least 2 must", greedy, len(weights))
	default:
		f.Saturated = true
		f.decide(spread, blocks, o)
	}
	return f, nil
}

// sum adds up the blocks by client, and refuses what cannot be.
func sum(weights []float64, blocks [][]Tally) ([]Tally, error) {
	if err := checkClients(weights); err != nil {
		return nil, err
	}
	if len(weights) < 2 {
		return nil, fmt.Errorf("stat: 1 client: want at least 2")
	}
	total := make([]Tally, len(weights))
	for b, block := range blocks {
		if len(block) != len(weights) {
			return nil, fmt.Errorf("stat: block %d has %d clients: want %d", b, len(block), len(weights))
		}
		for i, t := range block {
			if !(t.Good >= 0 && t.Good <= 1e15 && t.Offered >= 0 && t.Offered <= 1e15) {
				return nil, fmt.Errorf("stat: block %d, client %d: %+v, want counts of 0 to 1e15", b, i, t)
			}
			total[i].Offered += t.Offered
			total[i].Good += t.Good
		}
	}
	for i, t := range total {
		if t.Offered <= 0 {
			return nil, fmt.Errorf("stat: client %d offered nothing: want arrivals of every client", i)
		}
	}
	return total, nil
}

// demands returns the offers by client and the good replies of all.
func demands(total []Tally) (offered []float64, good float64) {
	for _, t := range total {
		offered = append(offered, t.Offered)
		good += t.Good
	}
	return offered, good
}

// worst finds the index of the worst block and what to expect of it: if each
// reply goes to a client by chance, with its due share as the probability, the
// variation in a block follows a chi-square distribution over the number of
// replies (Pearson's statistic), and the largest of many blocks its high quantile.
func (f *Fairness) worst(weights []float64, blocks [][]Tally, good float64) {
	f.WorstBlock, f.WorstExpected = 1, 1
	busy := 0
	for _, block := range blocks {
		ratios := make([]float64, len(block))
		any := false
		for i, t := range block {
			if c := f.Clients[i]; c.DueShare > 0 {
				ratios[i] = t.Good / c.DueShare
			}
			any = any || t.Good > 0
		}
		if any { // where nobody got anything nothing was shared
			busy++
			f.WorstBlock = min(f.WorstBlock, Jain(ratios, weights))
		}
	}
	if busy == 0 {
		return
	}
	var all, expected float64
	for _, w := range weights {
		all += w
	}
	for i, c := range f.Clients {
		expected += weights[i] / all * (1 - c.DueShare) / c.DueShare / (good / float64(busy))
	}
	df := len(weights) - 1
	f.WorstExpected = 1 / (1 + expected/float64(df)*chiSquareQuantile(math.Pow(0.95, 1/float64(busy)), df))
}

// intervals fills in the intervals of the share errors and of the index, and
// returns the half width of each share error at 1-2 alpha; nil without
// intervals.
func (f *Fairness) intervals(weights []float64, blocks [][]Tally, good float64, o FairOptions) (half []float64) {
	n := len(blocks)
	f.Effective = float64(n)
	if good == 0 {
		return nil
	}
	errs := make([]float64, n)
	se := make([]float64, len(weights))
	for i, c := range f.Clients {
		for b, block := range blocks {
			var all float64
			for _, t := range block {
				all += t.Good
			}
			// Their mean is the share error of all blocks together.
			errs[b] = (block[i].Good - c.DueShare*all) / (good / float64(n))
		}
		effective := float64(n)
		if !o.Repeats {
			effective = effectiveSize(errs)
		}
		f.Effective = min(f.Effective, effective)
		se[i] = deviation(errs) / math.Sqrt(effective)
	}
	f.BlockLength = int(math.Ceil(float64(n) / max(1, f.Effective)))
	need := minWindows
	if o.Repeats {
		need = minRepeats
	}
	if n < need || f.Effective < minEffective {
		return nil
	}
	df := f.Effective - 1
	joint := studentQuantile(1-(1-o.Level)/2/float64(len(weights)), df)
	single := studentQuantile(o.Level, df)
	// The index says how far the ratios are from their mean, in units of it.
	// Estimated ratios are at most so far from the true ones as the joint
	// intervals say, so that distance is wrong by at most that of the
	// intervals' ends: the triangle inequality gives an interval that holds
	// even at 1, where resampling fails.
	var mean, all, wrong float64
	for i, c := range f.Clients {
		mean, all = mean+weights[i]*c.Ratio, all+weights[i]
	}
	mean /= all
	for i := range f.Clients {
		c := &f.Clients[i]
		c.Low, c.High = c.Error-joint*se[i], c.Error+joint*se[i]
		half = append(half, single*se[i])
		h := joint * se[i] / c.DueShare / mean
		wrong += weights[i] / all * h * h
	}
	distance := math.Sqrt(1/f.Jain - 1)
	low, high := distance+math.Sqrt(wrong), max(0, distance-math.Sqrt(wrong))
	f.JainLow, f.JainHigh = 1/(1+low*low), 1/(1+high*high)
	return half
}

// decide compares the share errors with the margin.
func (f *Fairness) decide(half []float64, blocks [][]Tally, o FairOptions) {
	f.Decision = SharesUndecided
	if i := f.plain(blocks, o.Margin); half == nil && i >= 0 {
		f.Decision = SharesUnfair
		c := f.Clients[i]
		f.Reason = fmt.Sprintf("client %d got a share of %.4f where %.4f was due; the windows follow each other too closely for an interval, but every tenth of them is further off than %.4g by more than the tenths differ", i, c.Share, c.DueShare, o.Margin)
		return
	}
	if half == nil {
		f.Reason = fmt.Sprintf("no interval: at least %d windows, %d independent ones, or %d repeats are needed", minWindows, minEffective, minRepeats)
		return
	}
	fair := true
	for i, c := range f.Clients {
		if c.Low > o.Margin || c.High < -o.Margin {
			f.Decision = SharesUnfair
			f.Reason = fmt.Sprintf("client %d got a share of %.4f where %.4f was due, more than %.4g apart even at the near end of its interval", i, c.Share, c.DueShare, o.Margin)
			return
		}
		fair = fair && math.Abs(c.Error)+half[i] <= o.Margin
	}
	if fair {
		f.Decision = SharesFair
		f.Reason = fmt.Sprintf("every client's share is within %.4g of what is due to it", o.Margin)
		return
	}
	f.Reason = fmt.Sprintf("the largest share error is %.4f, and its interval holds %.4g", f.MaxShareError, o.Margin)
}

// tenths is how many parts of a run plain looks at.
const tenths = 10

// plain returns the client whose share is off in every tenth of the blocks to the
// same side, by more than the margin and by more than the tenths differ from each
// other on top of it; -1 for none. It is for blocks that follow each other so
// closely that there is no interval: however long their memory, what lies that
// far outside of everything that was seen is no chance.
func (f *Fairness) plain(blocks [][]Tally, margin float64) int {
	if len(blocks) < minWindows {
		return -1
	}
	for i, c := range f.Clients {
		low, high := math.Inf(1), math.Inf(-1)
		for k := range tenths {
			var own, all float64
			for _, block := range blocks[k*len(blocks)/tenths : (k+1)*len(blocks)/tenths] {
				own += block[i].Good
				for _, t := range block {
					all += t.Good
				}
			}
			off := own/max(1, all) - c.DueShare
			low, high = min(low, off), max(high, off)
		}
		if spread := high - low; low > margin+spread || high < -margin-spread {
			return i
		}
	}
	return -1
}

// effectiveSize returns how many independent values are worth as much as the
// share errors v, which follow each other; never more than there are.
func effectiveSize(v []float64) float64 {
	n := float64(len(v))
	m := mean(v)
	var lag, all float64
	for i, x := range v {
		all += (x - m) * (x - m)
		if i > 0 {
			lag += (x - m) * (v[i-1] - m)
		}
	}
	if all <= 1e-20*n { // shares that differ by rounding alone say nothing of correlation
		return n
	}
	r := lag / all
	r = max(0, min(1, r+(1+3*r)/n))
	return n * (1 - r) / (1 + r)
}
