package experiment

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"httpgen/internal/run"
	"httpgen/internal/target"
)

// stages is a Runner with arms that are known by their port: each call of an arm
// takes its time, with noise from trial to trial.
type stages struct {
	t      testing.TB
	times  map[int]float64
	noise  float64
	bad    func(n int) bool // trials in which the generator is the limit, by number
	rng    *rand.Rand
	ran    int
	stop   func()
	stopAt int
}

func (s *stages) Settle(context.Context, time.Duration) {}

func (s *stages) Run(_ context.Context, o run.Options) (Measurement, error) {
	s.ran++
	c := newCalls(s.t, o.Duration, 100*time.Millisecond)
	if s.stop != nil && s.ran == s.stopAt {
		s.stop()
		c.r.Run.Complete = false
	}
	scale := s.times[o.Port] * math.Exp(s.noise*s.rng.NormFloat64())
	for i := range 200 {
		c.reply(float64(i)/250, scale*(0.9+0.2*float64(i%20)/19))
	}
	r := c.result()
	if s.bad != nil && s.bad(s.ran) {
		invalid(r, "cpu")
	}
	return Measurement{Result: r}, nil
}

func newStages(t testing.TB, noise float64, times ...float64) *stages {
	s := &stages{t: t, times: map[int]float64{}, noise: noise, rng: rand.New(rand.NewPCG(1, 2))}
	for i, v := range times {
		s.times[i+1] = v
	}
	return s
}

// arms returns arms with those names on ports from 1 on.
func arms(names ...string) (all []Arm) {
	for i, n := range names {
		all = append(all, Arm{Name: n, Options: run.Options{Server: "127.0.0.1", Port: i + 1}})
	}
	return all
}

func compareOf(t *testing.T, l Lab, o CompareOptions) *CompareResult {
	t.Helper()
	r, err := l.Compare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func effect(t *testing.T, r *CompareResult, arm, metric string) *Effect {
	t.Helper()
	for i := range r.Effects {
		if e := &r.Effects[i]; e.Arm == arm && e.Metric == metric {
			return e
		}
	}
	t.Fatalf("no effect of %s on %s", arm, metric)
	return nil
}

func TestCompareFindsADifference(t *testing.T) {
	t.Parallel()
	var last Progress
	r := compareOf(t, Lab{Runner: newStages(t, 0.05, 0.01, 0.01, 0.013), Progress: func(p Progress) { last = p }}, CompareOptions{
		Arms: arms("base", "same", "slow"), Rate: 200, Equivalence: 0.1, Allow: 0.1, Gate: true, Ordered: true,
	})
	slow, same := effect(t, r, "slow", "p50"), effect(t, r, "same", "p50")
	if slow.Decision != "worse" || *slow.Ratio < 1.25 || *slow.Ratio > 1.35 || *slow.Low > 1.3 || *slow.High < 1.3 || !slow.Primary || slow.Gate != "broken" {
		t.Errorf("slow: %+v, want worse by 30 %%", slow)
	}
	if same.Decision != "none" || *same.Low > 1 || *same.High < 1 || same.Gate != "kept" || same.Equivalence == nil || !same.Equivalence.Shown {
		t.Errorf("same: %+v, want no difference, shown to be less than 10 %%", same)
	}
	if e := effect(t, r, "slow", "goodput"); e.Decision != "identical" || e.Primary || e.Gate != "" {
		t.Errorf("goodput: %+v, want identical, exploratory", e)
	}
	if r.Gate() != "broken" || r.Trend == nil || r.Trend.P > 0.001 || r.Same == nil || r.Same.Shown || r.Same.B != "slow" {
		t.Errorf("gate %q, trend %+v, same %+v", r.Gate(), r.Trend, r.Same)
	}
	if p := r.Resolution["p50"]; p.HalfWidth == nil || *p.HalfWidth > 0.05 || p.Power < 0.8 {
		t.Errorf("resolution %+v, want less than 5 %%, and a power of 80 %% at 10 %%", p)
	}
	if m := r.Arms[2].P50.Median; m == nil || math.Abs(*m-0.013) > 0.001 {
		t.Errorf("median %v, want 0.013", m)
	}
	if len(r.Trials) != 120 || len(r.Blocks) != 40 || last.Left != 0 || last.Done != 120 || r.Arms[0].CPU.Median != nil || len(r.Effects) != 10 {
		t.Errorf("%d trials, %d blocks, %d effects, progress %+v", len(r.Trials), len(r.Blocks), len(r.Effects), last)
	}
	// Arms under other names, in another order, give the same numbers.
	for from, to := range map[string]string{"base": "x", "same": "y", "slow": "z"} {
		for i := range r.Trials {
			if r.Trials[i].Arm == from {
				r.Trials[i].Arm = to
			}
		}
		for i := range r.Blocks {
			for k := range r.Blocks[i].Order {
				if r.Blocks[i].Order[k] == from {
					r.Blocks[i].Order[k] = to
				}
			}
		}
		for i := range r.Arms {
			if r.Arms[i].Name == from {
				r.Arms[i].Name = to
			}
		}
	}
	r.Baseline = "x"
	r.Arms[0], r.Arms[2] = r.Arms[2], r.Arms[0]
	again, err := Recompare(r)
	if err != nil {
		t.Fatal(err)
	}
	e := *effect(t, again, "z", "p50")
	e.Arm, e.Resolution.From = "slow", "slow"
	if !reflect.DeepEqual(e, *slow) {
		t.Errorf("analysed again: %+v, want %+v", e, *slow)
	}
}

func TestCompareAA(t *testing.T) {
	t.Parallel()
	r := compareOf(t, Lab{Runner: newStages(t, 0.05, 0.01)}, CompareOptions{Arms: arms("one"), Rate: 200, AA: true, Blocks: 20})
	if len(r.Arms) != 2 || r.Arms[1].Name != "one-again" || r.Resolution["p50"].From != "one-again" || effect(t, r, "one-again", "p50").Decision != "none" {
		t.Errorf("arms %+v, resolution %+v", r.Arms, r.Resolution["p50"])
	}
	if again, err := Recompare(r); err != nil || asJSON(t, again) != asJSON(t, r) {
		t.Errorf("analysed again it differs, error %v", err)
	}
}

func TestCompareIdentical(t *testing.T) {
	t.Parallel()
	r := compareOf(t, Lab{Runner: newStages(t, 0, 0.01, 0.01)}, CompareOptions{Arms: arms("a", "b"), Rate: 200, Blocks: 10})
	if e := effect(t, r, "b", "p50"); e.Decision != "identical" || *e.Ratio != 1 {
		t.Errorf("effect %+v, want identical", e)
	}
}

func TestCompareProcessorTime(t *testing.T) {
	t.Parallel()
	all := arms("a", "b")
	var used [2]time.Duration
	for i := range all {
		all[i].CPU = func() (time.Duration, error) {
			used[i] += time.Duration(i+1) * 100 * time.Millisecond
			return used[i], nil
		}
	}
	r := compareOf(t, Lab{Runner: newStages(t, 0, 0.01, 0.01)}, CompareOptions{Arms: all, Rate: 200, Blocks: 8, Metric: "cpu"})
	if e := effect(t, r, "b", "cpu"); e.Decision != "worse" || math.Abs(*e.Ratio-2) > 1e-9 || !e.Primary || r.Effects[0] != *e {
		t.Errorf("effect %+v, want twice the processor time, first of all", e)
	}
	if m := r.Arms[0].CPU.Median; m == nil || math.Abs(*m-0.1/200) > 1e-12 {
		t.Errorf("processor time %v a reply, want 0.0005", m)
	}
	all[1].CPU = func() (time.Duration, error) { return 0, errBroken }
	if _, err := (Lab{Runner: newStages(t, 0, 0.01, 0.01)}).Compare(t.Context(), CompareOptions{Arms: all, Rate: 200}); !errors.Is(err, errBroken) {
		t.Errorf("error %v, want %v", err, errBroken)
	}
}

func TestCompareRepeatsInvalidTrials(t *testing.T) {
	t.Parallel()
	// Of two arms in ten blocks trial 3 is repeated once; three in a row spoil a block.
	s := newStages(t, 0.05, 0.01, 0.01)
	s.bad = func(n int) bool { return n == 3 || n >= 10 && n <= 12 }
	r := compareOf(t, Lab{Runner: s}, CompareOptions{Arms: arms("a", "b"), Rate: 200, Blocks: 10})
	excluded := 0
	for _, b := range r.Blocks {
		if b.Excluded != "" {
			excluded++
		}
	}
	if len(r.Trials) != 23 || excluded != 1 || effect(t, r, "b", "p50").Blocks != 9 || r.Verdict.Status != "degraded" || r.Verdict.Reasons[0].Code != "excluded_blocks" {
		t.Errorf("%d trials, %d blocks excluded, verdict %+v", len(r.Trials), excluded, r.Verdict)
	}
	s.bad = func(int) bool { return true }
	r = compareOf(t, Lab{Runner: s}, CompareOptions{Arms: arms("a", "b"), Rate: 200, Blocks: 6, Gate: true})
	if len(r.Effects) != 0 || r.Verdict.Status != "invalid" || r.Gate() != "undecided" {
		t.Errorf("%d effects, verdict %+v, gate %s: want none, invalid, undecided", len(r.Effects), r.Verdict, r.Gate())
	}
}

func TestCompareResumesAtAWholeBlock(t *testing.T) {
	t.Parallel()
	o := CompareOptions{Arms: arms("a", "b", "c"), Rate: 200, Blocks: 8}
	store, key, dir := newStore(t, o)
	ctx, stop := context.WithCancel(t.Context())
	s := newStages(t, 0.05, 0.01, 0.01, 0.01)
	s.stop, s.stopAt = stop, 9 // trials 1 to 8 are kept: two blocks, and two arms of the third
	r, err := Lab{Runner: s, Store: store}.Compare(ctx, o)
	if err != nil || len(r.Trials) != 8 || r.Blocks[2].Excluded != "not all arms were run" {
		t.Fatalf("%d trials, blocks %+v, error %v", len(r.Trials), r.Blocks, err)
	}
	o.Blocks = 9 // more blocks begin like fewer
	if again, err := o.Key(); err != nil || again != key {
		t.Fatalf("key %+v, error %v, want %+v", again, err, key)
	}
	if store, err = OpenStore(dir, key); err != nil {
		t.Fatal(err)
	}
	s = newStages(t, 0.05, 0.01, 0.01, 0.01)
	r = compareOf(t, Lab{Runner: s, Store: store}, o)
	if s.ran != 21 || len(r.Trials) != 27 || len(r.Blocks) != 9 {
		t.Errorf("%d trials were run, %d are in the result: want 21 and 27", s.ran, len(r.Trials))
	}
	if _, kept, err := ReadTrials(dir); err != nil || len(kept) != 27 {
		t.Errorf("%d trials are kept, error %v, want 27", len(kept), err)
	}
}

func TestComparePastKnee(t *testing.T) {
	t.Parallel()
	o := CompareOptions{Arms: arms("a", "b"), Rate: 200, Blocks: 6}
	r := compareOf(t, Lab{Runner: &machine{t: t, capacity: 100}}, o)
	if !r.Arms[0].PastKnee || r.Verdict.Reasons[0].Code != "past_knee" {
		t.Errorf("arms %+v, verdict %+v: want both past their knee", r.Arms, r.Verdict)
	}
}

func TestCompareRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		o    CompareOptions
		want string
	}{
		{"one arm", CompareOptions{Arms: arms("a"), Rate: 1}, "1 arms: want at least 2"},
		{"no arm", CompareOptions{AA: true, Rate: 1}, "0 arms: want at least 2"},
		{"same name", CompareOptions{Arms: arms("a", "a"), Rate: 1}, `arm 2 with the name "a"`},
		{"no name", CompareOptions{Arms: arms("a", ""), Rate: 1}, `arm 2 with the name ""`},
		{"baseline", CompareOptions{Arms: arms("a", "b"), Rate: 1, Baseline: "c"}, `baseline "c": want one of the arms`},
		{"no load", CompareOptions{Arms: arms("a", "b")}, "rate 0 and 0 callers: want one of them"},
		{"two loads", CompareOptions{Arms: arms("a", "b"), Rate: 1, Closed: 1}, "rate 1 and 1 callers"},
		{"rate", CompareOptions{Arms: arms("a", "b"), Rate: math.Inf(1)}, "rate +Inf"},
		{"metric", CompareOptions{Arms: arms("a", "b"), Rate: 1, Metric: "p42"}, `metric "p42": want one of p50, p90, p99, goodput, errors, cpu`},
		{"few blocks", CompareOptions{Arms: arms("a", "b", "c"), Rate: 1, Blocks: 6}, "6 blocks cannot decide 2 comparisons at a level of 0.95: want 7 to 500"},
		{"short trial", CompareOptions{Arms: arms("a", "b"), Rate: 1, Trial: time.Millisecond}, "trial of 1ms"},
		{"level", CompareOptions{Arms: arms("a", "b"), Rate: 1, Level: 95}, "level 95"},
		{"equivalence", CompareOptions{Arms: arms("a", "b"), Rate: 1, Equivalence: math.NaN()}, "equivalence NaN"},
		{"trend", CompareOptions{Arms: arms("a", "b"), Rate: 1, Ordered: true}, "a trend over 2 arms"},
	} {
		if r, err := (Lab{}).Compare(t.Context(), tt.o); err == nil || r != nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: result %v, error %v, want one with %q", tt.name, r, err, tt.want)
		}
	}
	if _, err := Recompare(&CompareResult{}); err == nil || !strings.Contains(err.Error(), "want a comparison, httpgen.compare/1") {
		t.Errorf("error %v, want one about the schema", err)
	}
}

func TestCompareSchedule(t *testing.T) {
	t.Parallel()
	s, err := CompareOptions{Arms: arms("a", "b"), Rate: 100, Blocks: 10, Trial: 2 * time.Second}.Schedule()
	if err != nil || len(s.Trials) != 20 || s.Time != 40*time.Second || s.If != "" {
		t.Errorf("schedule %+v, error %v: want 20 trials in 40s", s, err)
	}
}

func TestCompareForReal(t *testing.T) {
	base := serve(t, target.Options{Service: target.Constant(5 * time.Millisecond), Workers: 8})
	slow := serve(t, target.Options{Service: target.Constant(50 * time.Millisecond), Workers: 8})
	r := compareOf(t, Lab{Runner: Live{}}, CompareOptions{
		Arms: []Arm{{Name: "base", Options: base}, {Name: "slow", Options: slow}}, Rate: 50, Blocks: 6, Trial: 200 * time.Millisecond, Settle: 10 * time.Millisecond,
	})
	if len(r.Trials) < 12 || !r.Run.Complete {
		t.Fatalf("%d trials, complete %v", len(r.Trials), r.Run.Complete)
	}
	// A busy machine may make a trial invalid, but no reply can be faster than
	// its service.
	if m := r.Arms[1].P50.Median; m != nil && *m < 0.05 {
		t.Errorf("median %v s of a service of 50 ms", *m)
	}
	for _, e := range r.Effects {
		if e.Metric == "p50" {
			t.Logf("%+v", e)
		}
	}
}
