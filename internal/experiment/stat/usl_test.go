package stat

import (
	"math"
	"strings"
	"testing"
)

func loads(v ...float64) (l []Load) {
	for i := 0; i < len(v); i += 2 {
		l = append(l, Load{v[i], v[i+1]})
	}
	return l
}

// SPEC SDM91 on a SPARCcenter 2000, as fitted by the R package usl: alpha
// 0.0277285 ± 0.0091217, beta 0.0001044 ± 0.0000199, gamma 89.9952 ± 14.2135,
// peak 1884 at 96.52.
func TestUSLPublished(t *testing.T) {
	t.Parallel()
	u, err := FitUSL(loads(1, 64.9, 18, 995.9, 36, 1652.4, 72, 1853.2, 108, 1828.9, 144, 1775.0, 216, 1702.2))
	if err != nil || u.Withheld != "" {
		t.Fatalf("withheld %q, error %v", u.Withheld, err)
	}
	quantile := studentQuantile(0.975, 4)
	for _, tt := range []struct {
		name              string
		got               Parameter
		value, se, within float64
	}{
		{"sigma", u.Sigma, 0.0277285, 0.0091217, 1e-4},
		{"kappa", u.Kappa, 0.0001044, 0.0000199, 1e-6},
		{"gamma", u.Gamma, 89.9952, 14.2135, 0.1},
	} {
		if se := (tt.got.High - tt.got.Low) / 2 / quantile; !near(tt.got.Value, tt.value, tt.within) || !near(se, tt.se, tt.within) {
			t.Errorf("%s: %+v, standard error %v, want %v ± %v", tt.name, tt.got, se, tt.value, tt.se)
		}
	}
	if n := u.Peak.Value; !near(n, 96.52, 0.05) || u.Peak.Low > n || u.Peak.High < n {
		t.Errorf("peak %+v, want 96.52", u.Peak)
	}
}

// The ray tracer of the same package bends but has no coherency: gamma 21.85,
// sigma 0.0578, kappa 0 and no peak.
func TestUSLWithoutPeak(t *testing.T) {
	t.Parallel()
	u, err := FitUSL(loads(1, 20, 4, 78, 8, 130, 12, 170, 16, 190, 20, 200, 24, 210, 28, 230, 32, 260, 48, 280, 64, 310))
	if err != nil || !near(u.Gamma.Value, 21.8488, 0.01) || !near(u.Sigma.Value, 0.057771, 1e-4) || u.Kappa.Value != 0 {
		t.Errorf("%+v, %v, want gamma 21.85, sigma 0.0578, kappa 0", u, err)
	}
	if !strings.Contains(u.Withheld, "kappa") || u.Peak != (Parameter{}) {
		t.Errorf("peak %+v withheld because %q, want none because of kappa", u.Peak, u.Withheld)
	}
}

func law(gamma, sigma, kappa, n float64) float64 {
	return gamma * n / (1 + sigma*(n-1) + kappa*n*(n-1))
}

func TestUSLSynthetic(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ gamma, sigma, kappa, top float64 }{
		{100, 0.02, 0.0005, 128},
		{5000, 0.1, 0.01, 64},
		{0.2, 0, 0.001, 256},
		{1e6, 0.3, 1e-5, 1024},
	} {
		var l []Load
		for n := 0.25; n <= tt.top; n *= 2 { // an open sweep begins below one call in flight
			l = append(l, Load{n, law(tt.gamma, tt.sigma, tt.kappa, n)})
		}
		u, err := FitUSL(l)
		if err != nil || !near(u.Gamma.Value/tt.gamma, 1, 1e-4) || !near(u.Sigma.Value, tt.sigma, 1e-4) || !near(u.Kappa.Value/tt.kappa, 1, 0.01) {
			t.Errorf("%+v: %+v, %v", tt, u, err)
		}
		if want := math.Sqrt((1 - tt.sigma) / tt.kappa); u.Withheld != "" || !near(u.Peak.Value/want, 1, 0.01) {
			t.Errorf("%+v: peak %+v, withheld %q, want %v", tt, u.Peak, u.Withheld, want)
		}
	}
}

func TestUSLCoverage(t *testing.T) {
	t.Parallel()
	n := experiments(300)
	rng := random(8)
	covered, given, peaks := 0, 0, 0
	for range n {
		var l []Load
		for c := 1.0; c <= 128; c *= 1.5 {
			l = append(l, Load{c, law(100, 0.02, 0.0005, c) + 30*rng.NormFloat64()}) // about 3 % of the peak
			l[len(l)-1].Throughput = max(1, l[len(l)-1].Throughput)
		}
		u, err := FitUSL(l)
		if err != nil {
			t.Fatal(err)
		}
		if u.Kappa.Low <= 0.0005 && 0.0005 <= u.Kappa.High {
			covered++
		}
		if u.Withheld == "" {
			given++
			if want := math.Sqrt(0.98 / 0.0005); u.Peak.Low <= want && want <= u.Peak.High {
				peaks++
			}
		}
	}
	within(t, "interval of kappa covers", covered, n, 0.93, 0.97)
	within(t, "peak given", given, n, 0.9, 1)
	within(t, "interval of the peak covers", peaks, given, 0.93, 0.97)
}

func TestUSLWithheld(t *testing.T) {
	t.Parallel()
	rng := random(9)
	var noise, early, fewer []Load
	for n := 1.0; n <= 12; n++ {
		noise = append(noise, Load{n, 100 + 80*rng.Float64()})
		early = append(early, Load{n, law(100, 0.02, 0.0005, n)})
		fewer = append(fewer, Load{1 + math.Mod(n, 5), 100 * n})
	}
	for _, tt := range []struct {
		name  string
		loads []Load
		want  string
	}{
		{"nothing", nil, "0 concurrencies: at least 6"},
		{"few concurrencies", fewer, "5 concurrencies"},
		{"noise", noise, "variance"},
		{"peak not reached", early, "outside the concurrencies measured, 1 to 12"},
		{"flat", loads(1, 5, 2, 5, 3, 5, 4, 5, 5, 5, 6, 5), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u, err := FitUSL(tt.loads)
			if err != nil || u.Withheld == "" || !strings.Contains(u.Withheld, tt.want) || u.Peak != (Parameter{}) {
				t.Errorf("%+v, %v, want it withheld because %q", u, err, tt.want)
			}
		})
	}
	for _, l := range []Load{{0, 1}, {1, 0}, {math.NaN(), 1}, {1, math.Inf(1)}} {
		if _, err := FitUSL([]Load{l}); err == nil {
			t.Errorf("%+v gave no error", l)
		}
	}
}

// Whatever is measured, a fit ends and a peak that is given makes sense.
func FuzzUSL(f *testing.F) {
	f.Add(1.0, 64.9, 18.0, 995.9, 72.0, 1853.2)
	f.Add(1e12, 1e-300, 1e-300, 1e12, 1.0, 1.0)
	f.Fuzz(func(t *testing.T, a, x, b, y, c, z float64) {
		u, err := FitUSL(loads(a, x, b, y, c, z, a/2, x/2, b/2, y/2, c*2, z, c*3, z))
		if err != nil {
			t.Skip()
		}
		if p := u.Peak; u.Withheld == "" && !(p.Value > 0 && p.Low <= p.Value && p.Value <= p.High) {
			t.Fatalf("peak %+v", p)
		}
	})
}
