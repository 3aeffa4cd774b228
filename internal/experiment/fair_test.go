package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"httpgen/internal/experiment/stat"
	"httpgen/internal/report"
	"httpgen/internal/run"
	"httpgen/internal/target"
	"httpgen/pacer"
)

// A well is a Runner and ClientsRunner with a server that shares its capacity by
// weights, or by what is offered.
type well struct {
	t        testing.TB
	capacity float64
	weights  map[string]float64 // nil shares by what is offered
	noise    float64            // of the shares, from window to window
	late     time.Duration      // how long after a change the shares stay as they were
	shed     bool               // in the second window the generator sheds an arrival
	lag      float64            // in seconds; the verdict is then invalid
	orders   []string           // names of the clients, run by run
	ran      []Client
	stop     func()
	stopAt   int
}

func (w *well) Settle(context.Context, time.Duration) {}

func (w *well) Run(_ context.Context, o run.Options) (Measurement, error) {
	c := newCalls(w.t, time.Second, 100*time.Millisecond)
	for i := range 500 {
		c.reply(float64(i)/500, 0.005)
	}
	return Measurement{Result: c.result()}, nil
}

func (w *well) RunClients(_ context.Context, clients []Client) (Measurement, error) {
	rng := rand.New(rand.NewPCG(uint64(len(w.orders)), 1))
	var names []string
	for _, c := range clients {
		names = append(names, c.Name)
	}
	w.orders, w.ran = append(w.orders, strings.Join(names, "")), append(w.ran, clients...)
	length, window := clients[0].Options.Duration, clients[0].Options.Window
	if length == 0 {
		length = time.Duration(float64(clients[0].Options.NumConns) / clients[0].Rate * 1e9)
	}
	r := newCalls(w.t, length, window).result()
	if w.stop != nil && len(w.orders) == w.stopAt {
		w.stop()
		r.Run.Complete = false
	}
	schedules := make([]pacer.Schedule, len(clients))
	next := make([]time.Duration, len(clients))
	for i, c := range clients {
		s := report.Stream{Name: c.Name, Target: "http://127.0.0.1/", Weight: c.Weight, Verdict: report.Verdict{Status: report.Valid}}
		s.Windows = append(s.Windows, r.Windows...)
		s.Times.Latency.P50, s.Times.Latency.P99 = new(0.01*float64(i+1)), new(0.02*float64(i+1))
		r.Streams = append(r.Streams, s)
		schedules[i] = pacer.For(c.Options.Process, length).Schedule(0, 1, 0)
		_, next[i], _ = schedules[i].Next()
	}
	for k := range r.Windows {
		to := time.Duration(k+1) * window
		offered, weights := make([]float64, len(clients)), make([]float64, len(clients))
		for i, c := range clients {
			for ok := next[i] >= 0; ok && next[i] < to; {
				offered[i]++
				if _, next[i], ok = schedules[i].Next(); !ok {
					next[i] = -1
				}
			}
			weights[i] = offered[i] + 1e-9
			if w.weights != nil {
				weights[i] = w.weights[c.Name]
			}
			weights[i] *= math.Exp(w.noise * rng.NormFloat64())
			if c.Join > 0 && to <= c.Join+w.late {
				weights[i] = 1e-6
			}
		}
		due, err := stat.MaxMin(w.capacity*window.Seconds(), offered, weights)
		if err != nil {
			w.t.Error(err)
		}
		for i := range clients {
			s := &r.Streams[i]
			win := &s.Windows[k]
			win.Scheduled, win.Replies = uint64(offered[i]), uint64(math.Round(due[i]))
			if w.shed && k == 1 {
				win.Shed.Add("late", 1)
			}
			s.Totals.Arrivals.Scheduled += win.Scheduled
			s.Totals.Errors.Add("reset", win.Scheduled-win.Replies)
			s.Totals.Replies += win.Replies
		}
	}
	if w.lag > 0 {
		r.Streams[0].Times.Lag.Max = w.lag
		invalid(r, "punctuality")
	}
	return Measurement{Result: r}, nil
}

// sharers returns three clients of weights 1, 3 and 6 with those rates.
func sharers(rates ...float64) (clients []Client) {
	for i, rate := range rates {
		clients = append(clients, Client{
			Name: string(rune('a' + i)), Weight: []float64{1, 3, 6}[i], Rate: rate,
			Options: run.Options{Server: "127.0.0.1", Sources: []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, byte(2 + i)})}},
		})
	}
	return clients
}

func equals(clients []Client) []Client {
	for i := range clients {
		clients[i].Weight = 1
	}
	return clients
}

func fairOf(t *testing.T, w *well, o FairOptions) *FairResult {
	t.Helper()
	r, err := Lab{Runner: w, Clients: w}.Fair(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFairDecides(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		w         well
		o         FairOptions
		decision  string
		saturated bool
		shares    []float64
		ratios    []float64
		jain      float64
	}{
		{"shares by weight", well{capacity: 400, weights: map[string]float64{"a": 1, "b": 3, "c": 6}, noise: 0.02},
			FairOptions{Clients: sharers(500, 500, 500), Duration: 15 * time.Second}, "fair", true, []float64{0.1, 0.3, 0.6}, []float64{1, 1, 1}, 1},
		{"first come, first served", well{capacity: 1000, noise: 0.02},
			FairOptions{Clients: equals(sharers(500, 500, 2000))}, "unfair", true, []float64{1. / 6, 1. / 6, 4. / 6}, []float64{0.5, 0.5, 2}, 0.667},
		{"equal shares", well{capacity: 1000, weights: map[string]float64{"a": 1, "b": 1, "c": 1}, noise: 0.02},
			FairOptions{Clients: equals(sharers(500, 500, 2000))}, "fair", true, []float64{1. / 3, 1. / 3, 1. / 3}, []float64{1, 1, 1}, 1},
		{"all served", well{capacity: 10000, weights: map[string]float64{"a": 1, "b": 3, "c": 6}},
			FairOptions{Clients: sharers(2000, 2000, 2000)}, "not_saturated", false, []float64{1. / 3, 1. / 3, 1. / 3}, []float64{1, 1, 1}, 1},
		{"few windows", well{capacity: 400, weights: map[string]float64{"a": 1, "b": 3, "c": 6}, noise: 0.02},
			FairOptions{Clients: sharers(500, 500, 500), Duration: 3 * time.Second}, "undecided", true, []float64{0.1, 0.3, 0.6}, []float64{1, 1, 1}, 1},
		{"the generator sheds", well{capacity: 400, weights: map[string]float64{"a": 1, "b": 3, "c": 6}, shed: true},
			FairOptions{Clients: sharers(500, 500, 500)}, "not_saturated", false, []float64{0.1, 0.3, 0.6}, []float64{1, 1, 1}, 1},
		{"repeats", well{capacity: 400, weights: map[string]float64{"a": 1, "b": 3, "c": 6}, noise: 0.02},
			FairOptions{Clients: sharers(500, 500, 500), Duration: 3 * time.Second, Repeat: 6, Rotate: true}, "fair", true, []float64{0.1, 0.3, 0.6}, []float64{1, 1, 1}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.w.t = t
			r := fairOf(t, &tt.w, tt.o)
			if r.Decision != tt.decision || r.Saturated != tt.saturated || math.Abs(r.Jain.Overall-tt.jain) > 0.005 {
				t.Errorf("decision %s (%s), saturated %v, index %.4f; want %s, %v, %.3f", r.Decision, r.Reason, r.Saturated, r.Jain.Overall, tt.decision, tt.saturated, tt.jain)
			}
			for i, c := range r.Clients {
				if math.Abs(c.Share-tt.shares[i]) > 0.01 || math.Abs(c.RatioToDue-tt.ratios[i]) > 0.03 {
					t.Errorf("client %s: share %.4f, ratio to due %.3f; want %.3f, %.2f", c.Name, c.Share, c.RatioToDue, tt.shares[i], tt.ratios[i])
				}
			}
			if want := tt.name == "the generator sheds"; (r.Verdict.Status == "invalid") != want {
				t.Errorf("verdict %+v", r.Verdict)
			}
			if tt.name == "repeats" && (strings.Join(tt.w.orders, " ") != "abc bca cab abc bca cab" || r.Blocks != 6) {
				t.Errorf("orders %q, %d blocks: want clients that change places, and a block a run", tt.w.orders, r.Blocks)
			}
			if tt.name == "first come, first served" && (r.LatencyRatio50 == nil || math.Abs(*r.LatencyRatio50-3) > 1e-9 || !strings.HasPrefix(r.Reason, "client ")) {
				t.Errorf("latencies differ by %v, reason %q", r.LatencyRatio50, r.Reason)
			}
		})
	}
}

// A generator that is late by milliseconds changes no share; by a second it does.
func TestFairGeneratorIsLate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lag      float64
		decision string
		status   string
	}{{0.01, "fair", "degraded"}, {1, "not_saturated", "invalid"}} {
		w := &well{t: t, capacity: 400, weights: map[string]float64{"a": 1, "b": 3, "c": 6}, noise: 0.02, lag: tt.lag}
		if r := fairOf(t, w, FairOptions{Clients: sharers(500, 500, 500)}); r.Decision != tt.decision || r.Verdict.Status != tt.status {
			t.Errorf("%g s late: %s, verdict %+v; want %s, %s", tt.lag, r.Decision, r.Verdict, tt.decision, tt.status)
		}
	}
}

func TestFairClientsThatJoinAndLeave(t *testing.T) {
	t.Parallel()
	clients := sharers(500, 500, 500)
	clients[2].Join, clients[1].Leave = 10*time.Second, 40*time.Second
	w := &well{t: t, capacity: 400, weights: map[string]float64{"a": 1, "b": 3, "c": 6}, late: 4 * time.Second}
	r := fairOf(t, w, FairOptions{Clients: clients, Duration: time.Minute, Baseline: true})
	if r.Measured != (Span{10, 40}) {
		t.Errorf("measured %+v, want 10 to 40 s", r.Measured)
	}
	if len(r.Convergence) != 2 {
		t.Fatalf("convergence %+v, want that of two events", r.Convergence)
	}
	join, leave := r.Convergence[0], r.Convergence[1]
	// Of five seconds the span may still hold a tenth of a second or so.
	if join.Event != "join c" || join.AtSeconds != 10 || join.Seconds == nil || math.Abs(*join.Seconds-4) > 0.5 {
		t.Errorf("%+v, want 4 s", join)
	}
	if leave.Event != "leave b" || leave.AtSeconds != 40 || leave.Seconds == nil || *leave.Seconds > 0.5 {
		t.Errorf("%+v, want none", leave)
	}
	if c := r.Clients[2]; math.Abs(c.StarvedSeconds-4) > 0.5 || c.Alone == nil || c.Alone.GoodputPerSecond < 490 || c.Alone.TrialID != 4 || c.Source != "127.0.0.4" {
		t.Errorf("client c: starved for %g s, alone %+v, from %s", c.StarvedSeconds, c.Alone, c.Source)
	}
	if c := r.Clients[0]; c.RefusedShare < 0.8 || c.RefusedShare > 0.95 || c.Rates.Replies.WindowSeconds != 5 || c.Rates.Replies.Samples != 12 {
		t.Errorf("client a: %.3f refused, reply rate %+v; want about 0.9, and 12 samples of 5 s", c.RefusedShare, c.Rates.Replies)
	}
}

func TestFairSchedules(t *testing.T) {
	t.Parallel()
	clients := sharers(100, 100, 50)
	clients[2].Join, clients[2].Leave = 2*time.Second, 4*time.Second
	o := FairOptions{Clients: clients, Duration: 6 * time.Second}
	if err := o.validate(); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		first time.Duration
		n     uint64
	}{{0, 600}, {time.Second / 300, 600}, {2*time.Second + 2*time.Second/150, 100}} {
		c, err := o.place(i, i)
		if err != nil {
			t.Fatal(err)
		}
		_, at, ok := c.Options.Process.Schedule(0, 1, 0).Next()
		n, _ := pacer.Count(c.Options.Process, 6*time.Second, 0)
		if !ok || (at-want.first).Abs() > time.Microsecond || n+1 < want.n || n > want.n {
			t.Errorf("client %d: first arrival at %v of %d, want %v of %d", i, at, n, want.first, want.n)
		}
	}
	// Arrivals in the warm-up come on top of those asked for.
	o = FairOptions{Clients: sharers(100, 100), Arrivals: 500}
	o.Clients[1].Options.Warmup = time.Second
	if err := o.validate(); err != nil {
		t.Fatal(err)
	}
	if c, err := o.place(1, 0); err != nil || c.Options.NumConns != 600 || c.Options.Duration != 0 {
		t.Errorf("%d arrivals, error %v, want 600", c.Options.NumConns, err)
	}
}

func TestFairStoppedAndResumed(t *testing.T) {
	t.Parallel()
	o := FairOptions{Clients: sharers(500, 500, 500), Duration: 3 * time.Second, Repeat: 6, Baseline: true}
	newWell := func() *well {
		return &well{t: t, capacity: 400, weights: map[string]float64{"a": 1, "b": 3, "c": 6}}
	}
	want := fairOf(t, newWell(), o)
	store, key, dir := newStore(t, o)
	ctx, stop := context.WithCancel(t.Context())
	w := newWell()
	w.stop, w.stopAt = stop, 3
	r, err := Lab{Runner: w, Clients: w, Store: store}.Fair(ctx, o)
	if err != nil || len(r.Trials) != 2 || r.Run.Complete || r.Verdict.Status != "degraded" {
		t.Fatalf("%+v, error %v: want two runs", r, err)
	}
	if store, err = OpenStore(dir, key); err != nil {
		t.Fatal(err)
	}
	w = newWell()
	got, err := Lab{Runner: w, Clients: w, Store: store}.Fair(t.Context(), o)
	if err != nil || asJSON(t, got) != asJSON(t, want) || len(w.orders) != 4 {
		t.Errorf("resumed, the result differs; %d runs, error %v", len(w.orders), err)
	}
	if r, err := (Lab{Runner: w, Clients: w}).Fair(ctx, o); r != nil || err != nil {
		t.Errorf("%+v, error %v: want nothing of nothing", r, err)
	}
}

// What a run had measured when it was stopped is known, and not kept.
func TestFairStopped(t *testing.T) {
	t.Parallel()
	o := FairOptions{Clients: sharers(500, 500, 500)}
	store, _, dir := newStore(t, o)
	ctx, stop := context.WithCancel(t.Context())
	w := &well{t: t, capacity: 400}
	w.stop, w.stopAt = stop, 1
	r, err := Lab{Runner: w, Clients: w, Store: store}.Fair(ctx, o)
	if err != nil || len(r.Trials) != 1 || r.Run.Complete || r.Verdict.Status != "degraded" {
		t.Fatalf("%+v, error %v: want what the run had measured", r, err)
	}
	if r.Clients[0].GoodputPerSecond == 0 || r.Measured.EndSeconds != r.Trials[0].Result.Run.SendingSeconds {
		t.Errorf("client %+v, measured %+v: want the shares until then", r.Clients[0], r.Measured)
	}
	if _, kept, err := ReadTrials(dir); err != nil || len(kept) != 0 {
		t.Errorf("%d trials are kept, error %v: want none", len(kept), err)
	}
}

func TestFairRefuses(t *testing.T) {
	t.Parallel()
	with := func(change func(*FairOptions)) FairOptions {
		o := FairOptions{Clients: sharers(500, 500, 500)}
		change(&o)
		return o
	}
	for _, tt := range []struct {
		name string
		o    FairOptions
		want string
	}{
		{"one client", FairOptions{Clients: sharers(1)}, "1 clients: want 2 to 1000"},
		{"same name", with(func(o *FairOptions) { o.Clients[1].Name = "a" }), `client 2 with the name "a"`},
		{"rate", with(func(o *FairOptions) { o.Clients[1].Rate = 0 }), "client b: rate 0: want"},
		{"weight", with(func(o *FairOptions) { o.Clients[1].Weight = -1 }), "client b: weight -1: want"},
		{"leave", with(func(o *FairOptions) { o.Clients[1].Join, o.Clients[1].Leave = 9*time.Second, 3*time.Second }), "client b: joins at 9s and leaves at 3s"},
		{"never together", with(func(o *FairOptions) { o.Clients[0].Leave, o.Clients[1].Join = 5*time.Second, 5*time.Second }), "all clients send together from 5s to 5s"},
		{"repeats", with(func(o *FairOptions) { o.Repeat = 3 }), "3 repeats: want 1, or 6 to 500"},
		{"places", with(func(o *FairOptions) { o.Repeat, o.Rotate = 7, true }), "want a multiple of 3"},
		{"random and late", with(func(o *FairOptions) { o.Poisson, o.Clients[1].Join = true, time.Second }), "client b: joins or leaves, with random arrivals"},
		{"margin", with(func(o *FairOptions) { o.Margin = 2 }), "share margin 2"},
		{"level", with(func(o *FairOptions) { o.Level = 95 }), "level 95"},
		{"duration", with(func(o *FairOptions) { o.Duration = -1 }), "duration -1ns"},
	} {
		if r, err := (Lab{}).Fair(t.Context(), tt.o); err == nil || r != nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: result %v, error %v, want one with %q", tt.name, r, err, tt.want)
		}
	}
	w := &well{t: t, capacity: 400}
	o := with(func(*FairOptions) {})
	if _, err := (Lab{Runner: w, Clients: missing{w}}).Fair(t.Context(), o); err == nil || !strings.Contains(err.Error(), `has no client "c"`) {
		t.Errorf("error %v, want one about client c", err)
	}
	o.Clients[0].Options.Sources = nil
	if r := fairOf(t, w, o); r.Verdict.Status != "degraded" || r.Verdict.Reasons[0].Code != "shared_source" {
		t.Errorf("verdict %+v, want a warning about source addresses", r.Verdict)
	}
}

// missing loses the last client.
type missing struct{ w *well }

func (m missing) RunClients(ctx context.Context, clients []Client) (Measurement, error) {
	return m.w.RunClients(ctx, clients[:len(clients)-1])
}

func TestFairSchedule(t *testing.T) {
	t.Parallel()
	s, err := FairOptions{Clients: sharers(500, 500, 500), Duration: 10 * time.Second, Repeat: 6, Baseline: true}.Schedule()
	if err != nil || len(s.Trials) != 9 || s.Time != 90*time.Second {
		t.Errorf("schedule %+v, error %v: want nine trials in 90s", s, err)
	}
}

// side carries out one run a client, side by side, and puts their results
// together.
type side struct{ Live }

func (side) RunClients(ctx context.Context, clients []Client) (Measurement, error) {
	results, errs := make([]*report.Result, len(clients)), make([]error, len(clients))
	start := time.Now().Add(300 * time.Millisecond)
	var done sync.WaitGroup
	for i, c := range clients {
		c.Options.Start = start
		done.Go(func() {
			m, err := Live{}.Run(ctx, c.Options)
			results[i], errs[i] = m.Result, err
		})
	}
	done.Wait()
	if err := errors.Join(errs...); err != nil {
		return Measurement{}, err
	}
	r := *results[0]
	for i, one := range results {
		r.Streams = append(r.Streams, report.Stream{
			Name: clients[i].Name, Target: one.Config.Target.URL, Weight: clients[i].Weight, Verdict: one.Verdict,
			Totals: one.Totals, Rates: one.Rates, Times: one.Times, Windows: one.Windows,
		})
	}
	return Measurement{Result: &r}, nil
}

func TestFairForReal(t *testing.T) {
	o := serve(t, target.Options{Service: target.Constant(10 * time.Millisecond), Workers: 2, Queue: 20, Overload: target.Reset})
	clients := equals(sharers(100, 100, 400))
	for i := range clients {
		clients[i].Options.Server, clients[i].Options.Port, clients[i].Options.Timeout = o.Server, o.Port, 2*time.Second
	}
	r, err := Lab{Runner: Live{}, Clients: side{}}.Fair(t.Context(), FairOptions{Clients: clients, Duration: 2 * time.Second, Poisson: true})
	if err != nil {
		t.Fatal(err)
	}
	var shares, good float64
	for _, c := range r.Clients {
		shares += c.Share
		good += c.GoodputPerSecond
		t.Logf("%s: offered %.1f/s goodput %.1f/s due %.1f/s ratio %.3f", c.Name, c.OfferedPerSecond, c.GoodputPerSecond, c.DuePerSecond, c.RatioToDue)
	}
	t.Logf("%s: %s, index %.3f", r.Decision, r.Reason, r.Jain.Overall)
	// Of two workers no more can come than what they had to do, and what was queued.
	if math.Abs(shares-1) > 1e-9 || good > 230 {
		t.Errorf("shares add up to %g, %g good replies/s of a server of 200/s", shares, good)
	}
	if fmt.Sprint(r.Measured) != "{0 2}" || len(r.Clients) != 3 {
		t.Errorf("measured %+v of %d clients", r.Measured, len(r.Clients))
	}
}
