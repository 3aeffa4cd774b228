package stat

import (
	"fmt"
	"math"
)

// A Load is one stable trial for the scalability law. In an open sweep the
// concurrency is throughput times mean latency: Little, "A proof for the
// queuing formula L = λW", Operations Research 9, 1961.
type Load struct {
	Concurrency float64 // mean calls in flight, above 0
	Throughput  float64 // good replies per second, above 0
}

// A Parameter is a fitted value with its interval at 95 %.
type Parameter struct{ Value, Low, High float64 }

// USL is the universal scalability law fitted to measurements:
//
//	X(N) = Gamma N / (1 + Sigma (N-1) + Kappa N (N-1))
//
// Source: Gunther, "Guerrilla capacity planning", Springer 2007, chapters 4
// and 5; the fit is nonlinear least squares (Marquardt, "An algorithm for
// least-squares estimation of nonlinear parameters", SIAM Journal on Applied
// Mathematics 11, 1963) with Sigma and Kappa not below 0.
type USL struct {
	Gamma    Parameter // throughput of one call at a time, per second
	Sigma    Parameter // contention, 0 is none
	Kappa    Parameter // coherency, 0 is none
	Peak     Parameter // concurrency of the highest throughput, sqrt((1-Sigma)/Kappa)
	R2       float64   // share of the throughput's variance that the law explains
	Withheld string    // why Peak, or with less data everything, is not given; empty when it is
}

// FitUSL fits the law. It withholds the peak when the data do not support it:
// too few concurrencies, a poor fit, an interval of Kappa that reaches 0, or a
// peak outside the concurrencies measured.
func FitUSL(loads []Load) (USL, error) {
	distinct := map[float64]bool{}
	lowest, highest := math.Inf(1), 0.0
	for _, l := range loads {
		for _, v := range []float64{l.Concurrency, l.Throughput} {
			if !(v > 0 && v <= 1e12) {
				return USL{}, fmt.Errorf("stat: load %+v: want a concurrency and a throughput above 0 and at most 1e12", l)
			}
		}
		distinct[l.Concurrency] = true
		lowest, highest = min(lowest, l.Concurrency), max(highest, l.Concurrency)
	}
	const need = 6 // three parameters, and as many to judge them by
	if len(distinct) < need {
		return USL{Withheld: fmt.Sprintf("%d concurrencies: at least %d are needed", len(distinct), need)}, nil
	}
	free := []bool{true, true, true}
	f := newUSLFit(loads)
	p, ok := f.fit(free)
	for i := 2; i > 0 && ok; i-- { // a negative parameter is held at 0, coherency first
		if p[i] < 0 {
			free[i] = false
			p, ok = f.fit(free)
		}
	}
	if !ok || p[1] < 0 || p[2] < 0 {
		return USL{Withheld: "no parameters fit"}, nil
	}
	u := f.describe(p, free)
	switch {
	case u.R2 < 0.9:
		u.Withheld = fmt.Sprintf("the law explains %.0f %% of the variance: 90 %% is wanted", 100*u.R2)
	case !(u.Kappa.Low > 0):
		u.Withheld = "the interval of kappa reaches 0: there may be no peak"
	case !(p[1] < 1):
		u.Withheld = fmt.Sprintf("sigma %.3g is 1 or more: throughput never rises", p[1])
	case u.Peak.Value < lowest || u.Peak.Value > highest:
		u.Withheld = fmt.Sprintf("the peak, %.4g, is outside the concurrencies measured, %.4g to %.4g", u.Peak.Value, lowest, highest)
	}
	if u.Withheld != "" {
		u.Peak = Parameter{}
	}
	return u, nil
}

// uslFit fits with throughput and parameters scaled to be about 1.
type uslFit struct {
	n, x  []float64
	scale float64 // of throughput
}

func newUSLFit(loads []Load) uslFit {
	var f uslFit
	for _, l := range loads {
		f.scale = max(f.scale, l.Throughput)
	}
	for _, l := range loads {
		f.n, f.x = append(f.n, l.Concurrency), append(f.x, l.Throughput/f.scale)
	}
	return f
}

// residuals returns the errors of the law, its derivatives and the sum of the
// squared errors, +Inf where the law makes no sense.
func (f uslFit) residuals(p []float64) (rows [][]float64, e []float64, rss float64) {
	for i, n := range f.n {
		d := 1 + p[1]*(n-1) + p[2]*n*(n-1)
		if !(d > 0) || !(p[0] > 0) {
			return nil, nil, math.Inf(1)
		}
		x := p[0] * n / d
		rows = append(rows, []float64{n / d, -x * (n - 1) / d, -x * n * (n - 1) / d})
		e = append(e, f.x[i]-x)
		rss += e[i] * e[i]
	}
	return rows, e, rss
}

// only keeps the columns of free parameters.
func only(rows [][]float64, free []bool) [][]float64 {
	var kept [][]float64
	for _, row := range rows {
		var k []float64
		for i, v := range row {
			if free[i] {
				k = append(k, v)
			}
		}
		kept = append(kept, k)
	}
	return kept
}

// fit returns the parameters with the least squared error; those not free are 0.
func (f uslFit) fit(free []bool) ([]float64, bool) {
	// With hardly any contention the law lies above all measurements: far from
	// the answer, but a place where it makes sense.
	p := []float64{0, 0, 0}
	for i, n := range f.n {
		p[0] = max(p[0], f.x[i]/n)
	}
	if free[1] {
		p[1] = 0.01
	}
	rows, e, rss := f.residuals(p)
	damping := 1e-3
	for range 2000 {
		step, ok := solve(normal(only(rows, free), e, damping))
		if !ok {
			return nil, false
		}
		next := append([]float64(nil), p...)
		for i := range next {
			if free[i] {
				next[i] += step[0]
				step = step[1:]
			}
		}
		r, ne, sum := f.residuals(next)
		if !(sum <= rss) {
			if damping *= 4; damping > 1e12 {
				break
			}
			continue
		}
		done := rss-sum <= 1e-14*rss
		p, rows, e, rss = next, r, ne, sum
		if damping = max(damping/8, 1e-12); done {
			break
		}
	}
	return p, true
}

// describe adds intervals to fitted parameters.
func (f uslFit) describe(p []float64, free []bool) USL {
	rows, _, rss := f.residuals(p)
	rows = only(rows, free)
	k := len(rows[0])
	df := float64(len(f.n) - k)
	t := studentQuantile(0.975, df)
	// Columns of the inverse of the normal matrix are the covariances.
	covariance := make([][]float64, k)
	for i := range covariance {
		a, b := normal(rows, make([]float64, len(rows)), 0)
		b[i] = 1
		c, ok := solve(a, b)
		if !ok {
			c = make([]float64, k)
			c[i] = math.Inf(1)
		}
		for j := range c {
			c[j] *= rss / df
		}
		covariance[i] = c
	}
	parameters := make([]Parameter, 3)
	for i, at := 0, 0; i < 3; i++ {
		parameters[i] = Parameter{Value: p[i]}
		if free[i] {
			half := t * math.Sqrt(covariance[at][at])
			parameters[i].Low, parameters[i].High = p[i]-half, p[i]+half
			at++
		}
	}
	g := parameters[0]
	u := USL{
		Gamma: Parameter{g.Value * f.scale, g.Low * f.scale, g.High * f.scale},
		Sigma: parameters[1], Kappa: parameters[2],
	}
	var tss float64
	for m, i := mean(f.x), 0; i < len(f.x); i++ {
		tss += (f.x[i] - m) * (f.x[i] - m)
	}
	u.R2 = 1 - rss/tss
	if p[2] > 0 && p[1] < 1 {
		// The logarithm of the peak is half of log(1-sigma) - log(kappa), so
		// its variance follows from theirs to first order.
		slope := make([]float64, 0, 3)
		for i, v := range []float64{0, -0.5 / (1 - p[1]), -0.5 / p[2]} {
			if free[i] {
				slope = append(slope, v)
			}
		}
		var variance float64
		for i := range slope {
			for j := range slope {
				variance += slope[i] * slope[j] * covariance[i][j]
			}
		}
		n, half := math.Sqrt((1-p[1])/p[2]), math.Exp(t*math.Sqrt(variance))
		u.Peak = Parameter{n, n / half, n * half}
	}
	return u
}
