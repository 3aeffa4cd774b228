package stat

import (
	"fmt"
	"math"
	"slices"
)

// normalCDF returns the probability that a standard normal value is at most z.
func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// normalQuantile returns the z below which a standard normal value falls with
// probability p.
func normalQuantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }

// betaCDF returns the regularised incomplete beta function I_x(a, b), by the
// continued fraction of the Digital Library of Mathematical Functions, 8.17.22,
// evaluated by Lentz's method.
func betaCDF(a, b, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2): // the fraction converges fast on the other side only
		return 1 - betaCDF(b, a, 1-x)
	}
	const tiny = 1e-300 // stands for a zero denominator
	nonzero := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/nonzero(1-(a+b)*x/(a+1))
	f := d
	// About sqrt(max(a, b)) terms are needed; the bound is a guard.
	for m := 1.0; m < 1e5; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / nonzero(1+even*d)
		c = nonzero(1 + even/c)
		f *= c * d
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / nonzero(1+odd*d)
		c = nonzero(1 + odd/c)
		f *= c * d
		if math.Abs(c*d-1) < 1e-15 {
			break
		}
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	return math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) * f / a
}

// betaQuantile inverts betaCDF.
func betaQuantile(a, b, p float64) float64 {
	return root(0, 1, func(x float64) bool { return betaCDF(a, b, x) >= p })
}

// studentQuantile returns the t below which a value of Student's distribution
// with df degrees of freedom falls with probability p, which must be at least
// one half. df need not be whole.
func studentQuantile(p, df float64) float64 {
	x := betaQuantile(df/2, 0.5, 2*(1-p)) // df/(df+t^2)
	return math.Sqrt(df * (1 - x) / x)
}

// chiSquareQuantile returns the value below which the sum of df squared
// standard normal values falls with probability p.
func chiSquareQuantile(p float64, df int) float64 {
	above := func(x float64) float64 {
		// Abramowitz and Stegun 26.4.4 and 26.4.5: a tail and a finite sum.
		tail, term, k := math.Erfc(math.Sqrt(x/2)), math.Sqrt(2*x/math.Pi)*math.Exp(-x/2), 1
		if df%2 == 0 {
			tail, term, k = math.Exp(-x/2), x/2*math.Exp(-x/2), 2
		}
		for ; k < df; k += 2 {
			tail += term
			term *= x / float64(k+2)
		}
		return tail
	}
	high := float64(df)
	for above(high) > 1-p {
		high *= 2
	}
	return root(0, high, func(x float64) bool { return above(x) <= 1-p })
}

// root returns the place between low and high where past turns true, to the
// last bit or two.
func root(low, high float64, past func(float64) bool) float64 {
	for range 200 {
		mid := low + (high-low)/2
		if mid == low || mid == high {
			break
		}
		if past(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return low + (high-low)/2
}

// median returns the middle of v, which must not be empty; v is left as it is.
func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	return s[(n-1)/2]/2 + s[n/2]/2
}

func mean(v []float64) float64 {
	var sum float64
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// deviation returns the standard deviation of v with n-1, 0 below two values.
func deviation(v []float64) float64 {
	if len(v) < 2 {
		return 0
	}
	m := mean(v)
	var ss float64
	for _, x := range v {
		ss += (x - m) * (x - m)
	}
	return math.Sqrt(ss / float64(len(v)-1))
}

// level fills in the default confidence, 0.95, and refuses what is none.
func level(l float64) (float64, error) {
	if l == 0 {
		return 0.95, nil
	}
	if !(l >= 0.5 && l < 1) {
		return 0, fmt.Errorf("stat: level %v: want 0.5 or more and less than 1", l)
	}
	return l, nil
}
