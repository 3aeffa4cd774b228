package stat

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// play runs a search, from 100 unless told, against a target and returns it
// with the trials made.
func play(t *testing.T, o SearchOptions, target func(Trial) Outcome) (*Search, []Trial) {
	t.Helper()
	if o.From == 0 {
		o.From = 100
	}
	s, err := NewSearch(o)
	if err != nil {
		t.Fatal(err)
	}
	var trials []Trial
	for {
		next, ok := s.Next()
		if !ok {
			return s, trials
		}
		if len(trials) > 1000 {
			t.Fatalf("%+v: no end after %d trials, rungs %+v", o, len(trials), s.Rungs())
		}
		trials = append(trials, next)
		if err := s.Observe(next, target(next)); err != nil {
			t.Fatal(err)
		}
	}
}

// capacity is a target that meets the objective up to a rate.
func capacity(c float64) func(Trial) Outcome {
	return func(t Trial) Outcome {
		if t.Rate <= c {
			return Met
		}
		return Missed
	}
}

func seconds(trials []Trial) (sum time.Duration) {
	for _, t := range trials {
		sum += t.Length + t.Settle
	}
	return sum
}

func TestSearchSteady(t *testing.T) {
	t.Parallel()
	for _, c := range []float64{100, 400, 3000, 12345, 777777} {
		s, trials := play(t, SearchOptions{}, capacity(c))
		got := s.Capacity()
		if got.Status != CapacityFound || got.Reason != "" || got.Lower > c || got.Upper <= c || got.Width > 0.05 ||
			!near(got.Recommended, 0.7*got.Lower, 1e-9) {
			t.Errorf("capacity %v: %+v, want it found to 5 %%", c, got)
		}
		if c <= 3000 && seconds(trials) > 2*time.Minute {
			t.Errorf("capacity %v: %v of trials, want about two minutes", c, seconds(trials))
		}
		low, up := trials[len(trials)-2], trials[len(trials)-1]
		if low.Phase != Confirm || low.Length != 10*time.Second || low.Rate != got.Lower ||
			up.Phase != Confirm || up.Length != 4*time.Second || up.Rate != got.Upper {
			t.Errorf("capacity %v: last trials %+v and %+v, want both bounds confirmed", c, low, up)
		}
	}
}

// The trials of one small search, one by one.
func TestSearchTrials(t *testing.T) {
	t.Parallel()
	_, trials := play(t, SearchOptions{From: 50, Width: 0.2, Repeat: 2}, capacity(130))
	type step struct {
		rate  int
		phase Phase
		ms    int64
	}
	var got []step
	for _, x := range trials {
		got = append(got, step{int(math.Round(x.Rate)), x.Phase, x.Length.Milliseconds()})
	}
	want := []step{
		{50, Climb, 8000}, {100, Climb, 4000}, {200, Climb, 4000},
		{141, Bisect, 4000}, {119, Bisect, 4000},
		{119, Repeat, 4000}, {141, Repeat, 4000},
		{119, Confirm, 10000}, {141, Confirm, 4000},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("trials %v, want %v", got, want)
	}
	if trials[0].Settle != 0 || trials[1].Settle != time.Second {
		t.Errorf("settle %v and %v, want none before the first trial and 1s after", trials[0].Settle, trials[1].Settle)
	}
}

func TestSearchAnswers(t *testing.T) {
	t.Parallel()
	below := func(limit float64, f func(Trial) Outcome) func(Trial) Outcome {
		return func(x Trial) Outcome {
			if x.Rate > limit {
				return Invalid
			}
			return f(x)
		}
	}
	sequence := func(outcomes ...Outcome) func(Trial) Outcome {
		return func(Trial) Outcome {
			o := outcomes[0]
			if len(outcomes) > 1 {
				outcomes = outcomes[1:]
			}
			return o
		}
	}
	alternate := func(low, high float64) func(Trial) Outcome { // trials disagree from low to high
		flip := false
		return func(x Trial) Outcome {
			if x.Rate > low && x.Rate < high {
				if flip = !flip; flip {
					return Met
				}
				return Missed
			}
			return capacity(low)(x)
		}
	}
	for _, tt := range []struct {
		name          string
		o             SearchOptions
		target        func(Trial) Outcome
		status        Status
		low, high     float64 // what Lower must lie between
		upLow, upHigh float64 // what Upper must lie between
		reason        string
	}{
		{"to is reached", SearchOptions{To: 1000}, capacity(5000), CapacityAtLeast, 1000, 1000, math.Inf(1), math.Inf(1), "no rate up to 1000"},
		{"below from", SearchOptions{}, capacity(99), CapacityBelowFrom, 0, 0, 100, 100, "first rate, 100"},
		{"from and to alone", SearchOptions{From: 100, To: 100}, capacity(100), CapacityAtLeast, 100, 100, math.Inf(1), math.Inf(1), ""},
		{"generator limited", SearchOptions{}, below(1000, capacity(5000)), CapacityLimited, 950, 1000, math.Inf(1), math.Inf(1), "generator was the limit at"},
		{"generator limited from the start", SearchOptions{}, below(0, capacity(1)), CapacityLimited, 0, 0, math.Inf(1), math.Inf(1), "generator was the limit at 100"},
		{"the target misses first", SearchOptions{}, func(x Trial) Outcome {
			if x.Rate > 500 {
				return Missed
			}
			return capacity(400)(x)
		}, CapacityFound, 380, 400, 400, 420, ""},
		{"limited inside the interval", SearchOptions{}, func(x Trial) Outcome {
			switch {
			case x.Rate <= 200:
				return Met
			case x.Rate >= 400:
				return Missed
			}
			return Invalid
		}, CapacityLimited, 200, 200, 400, 400, "generator was the limit"},
		{"an invalid trial now and then", SearchOptions{}, func() func(Trial) Outcome {
			n := 0
			return func(x Trial) Outcome {
				if n++; n%3 != 0 {
					return Invalid
				}
				return capacity(300)(x)
			}
		}(), CapacityFound, 285, 300, 300, 315, ""},
		{"trials disagree", SearchOptions{}, alternate(290, 330), CapacityFound, 270, 290, 330, 350, "trials disagree at"},
		{"disagreement at the first rate", SearchOptions{}, alternate(50, 150), CapacityUndecided, 0, 0, 150, 200, "disagree at the first rate"},
		{"disagreement up to the last rate", SearchOptions{To: 200}, alternate(150, 1e6), CapacityAtLeast, 142, 150, math.Inf(1), math.Inf(1), ""},
		{"one bad trial on the way up", SearchOptions{}, func() func(Trial) Outcome {
			n := 0
			return func(x Trial) Outcome {
				if n++; n == 2 {
					return Missed
				}
				return capacity(3000)(x)
			}
		}(), CapacityFound, 2850, 3000, 3000, 3150, ""},
		{"overload that builds up slowly", SearchOptions{}, func(x Trial) Outcome {
			if x.Phase == Confirm {
				return capacity(400)(x)
			}
			return capacity(430)(x)
		}, CapacityFound, 380, 400, 430, 450, "trials disagree at"},
		{"connections", SearchOptions{From: 1, Whole: true}, capacity(7), CapacityFound, 7, 7, 8, 8, "no rate to try"},
		{"given rates", SearchOptions{Rates: []float64{300, 100, 200, 400}, Repeat: 2}, capacity(250), CapacityFound, 200, 200, 300, 300, "no rate to try"},
		{"given rates, all met", SearchOptions{Rates: []float64{100, 200}}, capacity(250), CapacityAtLeast, 200, 200, math.Inf(1), math.Inf(1), ""},
		{"given rates, none met", SearchOptions{Rates: []float64{100, 200}}, capacity(50), CapacityBelowFrom, 0, 0, 100, 100, ""},
		{"given rates, limited", SearchOptions{Rates: []float64{100, 200, 400}}, below(250, capacity(1000)), CapacityLimited, 200, 200, math.Inf(1), math.Inf(1), "at 400"},
		{"all invalid, then met", SearchOptions{To: 100}, sequence(Invalid, Invalid, Met), CapacityAtLeast, 100, 100, math.Inf(1), math.Inf(1), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := play(t, tt.o, tt.target)
			got := s.Capacity()
			if got.Status != tt.status || got.Lower < tt.low || got.Lower > tt.high || got.Upper < tt.upLow || got.Upper > tt.upHigh ||
				!strings.Contains(got.Reason, tt.reason) || tt.reason == "" && got.Status == CapacityFound && got.Reason != "" {
				t.Errorf("got %v %v..%v because %q, want %v %v-%v..%v-%v because %q; rungs %+v", got.Status, got.Lower, got.Upper, got.Reason,
					tt.status, tt.low, tt.high, tt.upLow, tt.upHigh, tt.reason, s.Rungs())
			}
		})
	}
}

func TestSearchInvalid(t *testing.T) {
	t.Parallel()
	s, trials := play(t, SearchOptions{To: 400}, func(x Trial) Outcome {
		if x.Rate == 200 {
			return Invalid
		}
		return Met
	})
	n := 0
	for _, x := range trials {
		if x.Rate == 200 {
			n++
		}
		if x.Rate > 200 {
			t.Errorf("a trial at %v above the generator's limit", x.Rate)
		}
	}
	if n != 3 {
		t.Errorf("%d trials at the limit, want 3: one and two repeats", n)
	}
	for _, r := range s.Rungs() {
		if want := map[bool]Outcome{false: Met, true: GeneratorLimited}[r.Rate == 200]; r.Outcome() != want {
			t.Errorf("rung %+v: %v, want %v", r, r.Outcome(), want)
		}
	}
}

func TestSearchListOrder(t *testing.T) {
	t.Parallel()
	rates := func(order RateOrder, seed uint64) (got []float64) {
		_, trials := play(t, SearchOptions{Rates: []float64{30, 10, 20, 10}, Repeat: 2, Order: order, Seed: seed}, capacity(15))
		for _, x := range trials {
			if x.Phase != Listed {
				t.Errorf("phase %v, want listed", x.Phase)
			}
			got = append(got, x.Rate)
		}
		return got
	}
	if got, want := rates(Up, 0), []float64{10, 20, 30, 10, 20, 30}; !slices.Equal(got, want) {
		t.Errorf("up: %v, want %v", got, want)
	}
	if got, want := rates(Down, 0), []float64{30, 20, 10, 30, 20, 10}; !slices.Equal(got, want) {
		t.Errorf("down: %v, want %v", got, want)
	}
	a, b := rates(Shuffle, 1), rates(Shuffle, 1)
	if !slices.Equal(a, b) {
		t.Errorf("shuffled with one seed: %v and %v", a, b)
	}
	for _, round := range [][]float64{a[:3], a[3:]} {
		if !slices.Equal(slices.Sorted(slices.Values(round)), []float64{10, 20, 30}) {
			t.Errorf("shuffled round %v, want every rate once", round)
		}
	}
}

// A search that is stopped and given its trials again goes on as it would have.
func TestSearchResumed(t *testing.T) {
	t.Parallel()
	target := capacity(730)
	_, trials := play(t, SearchOptions{}, target)
	for stop := range trials {
		s, err := NewSearch(SearchOptions{From: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range trials[:stop] {
			if err := s.Observe(x, target(x)); err != nil {
				t.Fatal(err)
			}
		}
		if next, ok := s.Next(); !ok || next != trials[stop] {
			t.Fatalf("after %d trials: %+v, want %+v", stop, next, trials[stop])
		}
		if c := s.Capacity(); c.Status != CapacityUndecided || !strings.Contains(c.Reason, "not finished") {
			t.Errorf("after %d trials: %+v, want undecided", stop, c)
		}
	}
}

func TestSearchRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		o    SearchOptions
		want string
	}{
		{SearchOptions{From: -1}, "from -1: want 0.001 to 1e+09"},
		{SearchOptions{From: math.NaN()}, "from NaN"},
		{SearchOptions{From: 200, To: 100}, "to 100: want at least from, 200"},
		{SearchOptions{Factor: 1}, "factor 1: want 1.01 to 100"},
		{SearchOptions{Width: 2}, "width 2"},
		{SearchOptions{Repeat: -3}, "repeat -3: want 1 to 100"},
		{SearchOptions{Arrivals: -1}, "arrivals -1"},
		{SearchOptions{Trial: -time.Second}, "trial -1s"},
		{SearchOptions{Settle: 48 * time.Hour}, "settle 48h"},
		{SearchOptions{Order: 7}, "order 7"},
		{SearchOptions{Rates: []float64{10, 0}}, "rate 0: want"},
		{SearchOptions{Rates: []float64{1.5}, Whole: true}, "rate 1.5"},
		{SearchOptions{From: 1.2, To: 1.8, Whole: true}, "no whole number"},
	} {
		if _, err := NewSearch(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: error %v, want one with %q", tt.o, err, tt.want)
		}
	}
	s, err := NewSearch(SearchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Observe(Trial{Rate: 100}, Mixed); err == nil || !strings.Contains(err.Error(), "want met, missed or invalid") {
		t.Errorf("a mixed trial: error %v", err)
	}
}

// Whatever the outcomes are, a search ends, and its bounds are what they say.
func FuzzSearch(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 1, 2, 0, 1}, 100.0, 2.0, 0.05, uint8(3), false)
	f.Add([]byte{2, 1, 2, 1}, 1.0, 1.5, 0.3, uint8(1), true)
	f.Fuzz(func(t *testing.T, outcomes []byte, from, factor, width float64, repeat uint8, whole bool) {
		s, err := NewSearch(SearchOptions{From: from, To: 1e6, Factor: factor, Width: width, Repeat: int(repeat % 5), Whole: whole})
		if err != nil {
			t.Skip()
		}
		for n := 0; ; n++ {
			next, ok := s.Next()
			if !ok {
				break
			}
			if n > 200000 {
				t.Fatalf("no end: %d rungs", len(s.rungs))
			}
			o := Missed
			if n < len(outcomes) {
				o = []Outcome{Met, Missed, Invalid}[outcomes[n]%3]
			}
			if err := s.Observe(next, o); err != nil {
				t.Fatal(err)
			}
			if !(next.Rate >= from && next.Rate <= 1e6) || next.Length <= 0 {
				t.Fatalf("trial %+v outside the search", next)
			}
		}
		c := s.Capacity()
		if c.Lower >= c.Upper || c.Width < 0 || c.Width > 1 {
			t.Fatalf("%+v: the bounds cross", c)
		}
	})
}

// The interval holds the capacity although trials are noisy: each one finds
// the target's capacity a few percent off. 400 is itself a rate of the climb.
func TestSearchCoverage(t *testing.T) {
	t.Parallel()
	n := experiments(300)
	for _, noise := range []float64{0.01, 0.02, 0.03, 0.05} {
		for _, fixed := range []float64{0, 400, 3000} {
			rng := random(uint64(1000*noise + fixed))
			holds, narrow := 0, 0
			var width, length, count float64
			for range n {
				c := fixed
				if c == 0 {
					c = 100 * math.Exp(rng.Float64()*math.Log(60)) // 100 to 6000
				}
				s, trials := play(t, SearchOptions{From: 50}, func(x Trial) Outcome {
					return capacity(c * math.Exp(noise*rng.NormFloat64()))(x)
				})
				got := s.Capacity()
				if got.Status == CapacityFound && got.Lower <= c && c <= got.Upper {
					holds++
				}
				if got.Width <= 0.06 {
					narrow++
				}
				width += got.Width / float64(n)
				count += float64(len(trials)) / float64(n)
				length += seconds(trials).Seconds() / float64(n)
			}
			t.Logf("noise %v, capacity %v: mean width %.3f, at most 6 %% in %d, %.1f trials, %.0f s", noise, fixed, width, narrow, count, length)
			within(t, "holds the capacity", holds, n, 0.95, 1)
		}
	}
}
