package stat

import "math"

// A Resolution says how small a difference an experiment can see. Taken from
// two arms that are the same (A/A) it stands beside every claim.
type Resolution struct {
	HalfWidth  float64 // half of the interval of the ratio: 0.02 is ± 2 %
	BlockSD    float64 // standard deviation of the ratio from block to block
	Detectable float64 // the smallest change that is found with a power of 80 %

	se float64 // standard error of the estimated logarithm of the ratio
	z  float64 // how many of them a difference must reach, Holm's first step
}

func resolution(d []float64, shift Shift, level float64, comparisons int) Resolution {
	half := (shift.High - shift.Low) / 2
	r := Resolution{
		HalfWidth: math.Expm1(half),
		BlockSD:   math.Expm1(deviation(d)),
		// The interval's own width serves as the scale, which a few wild
		// blocks do not move.
		se: half / normalQuantile((1+level)/2),
		z:  normalQuantile(1 - (1-level)/2/float64(comparisons)),
	}
	r.Detectable = math.Expm1((r.z + normalQuantile(power80)) * r.se)
	return r
}

// Power returns the probability that a change of this size is found: 0.1 is a
// ratio of 1.1. It takes the estimate as normally distributed.
func (r Resolution) Power(change float64) float64 {
	if r.se == 0 {
		if change == 0 {
			return 0
		}
		return 1
	}
	shift := math.Abs(math.Log1p(change)) / r.se
	return normalCDF(shift-r.z) + normalCDF(-shift-r.z)
}
