package main

import (
	"fmt"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"httpgen/client"
	"httpgen/internal/experiment"
	"httpgen/internal/report"
)

func TestSweepOptions(t *testing.T) {
	t.Parallel()
	g, p := parsed(t, strings.Fields("httpgen sweep http://127.0.0.1:81/a --slo p50<5ms --from 10 --to 1000 --factor 3 --wid 10% --trial 2 --arr 50 --repeat 2 --confirm 3s --settle 100ms --beyond 3x --step 5 --timeout 7 -H A:b")...)
	o, warnings, err := g.Sweep.options(p)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("warnings %q, error %v", warnings, err)
	}
	s := &o.Search
	if o.Objective.String() != "p50<5ms" || s.From != 10 || s.To != 1000 || s.Factor != 3 || s.Width != 0.1 || s.Trial != 2*time.Second || s.Arrivals != 50 || s.Repeat != 2 ||
		s.Confirm != 3*time.Second || s.Settle != 100*time.Millisecond || o.Beyond != 3 || o.Step != 5*time.Second || o.Connections {
		t.Errorf("have %+v", o)
	}
	if b := &o.Base; b.Server != "127.0.0.1" || b.Port != 81 || b.URI != "/a" || b.Timeout != 7*time.Second || len(b.Header) != 1 || b.KeepOpen {
		t.Errorf("have %+v", b)
	}
	g, p = parsed(t, strings.Fields("httpgen sweep http://127.0.0.1/ --by connections --rates 1,2,4 --order shuffle --seed 3")...)
	if o, _, err = g.Sweep.options(p); err != nil {
		t.Fatal(err)
	}
	if !o.Connections || !slices.Equal(o.Search.Rates, []float64{1, 2, 4}) || o.Search.Seed != 3 || o.Search.From != 1 || !o.Base.KeepOpen || o.Objective.String() != defaultObjective {
		t.Errorf("have %+v", o)
	}
}

func TestCompareOptions(t *testing.T) {
	t.Parallel()
	g, p := parsed(t, "httpgen", "compare", "a=http://127.0.0.1/?x=1", "b=http://127.0.0.1/", "--closed", "4", "--baseline", "b", "--metric", "p99", "--blocks", "12", "--trial", "2s",
		"--level", "90%", "--equivalence", "2%", "--allow", "5%", "--aa", "--seed", "7", "--arm-header", "b=Host: other", "--pid", "a=1")
	urls, files, err := g.Compare.sources()
	if err != nil || len(files) > 0 {
		t.Fatalf("files %v, error %v", files, err)
	}
	o, arms, warnings, err := g.Compare.options(p, urls)
	if err != nil || len(warnings) > 0 || len(arms) != 2 {
		t.Fatalf("arms %v, warnings %q, error %v", arms, warnings, err)
	}
	if o.Closed != 4 || o.Rate != 0 || o.Baseline != "b" || o.Metric != "p99" || o.Blocks != 12 || o.Trial != 2*time.Second || o.Level != 0.9 || o.Equivalence != 0.02 || o.Allow != 0.05 ||
		!o.Gate || !o.AA || o.Seed != 7 || o.Ordered {
		t.Errorf("have %+v", o)
	}
	a, b := &o.Arms[0], &o.Arms[1]
	if a.Name != "a" || a.Options.URI != "/?x=1" || !a.Options.KeepOpen || a.CPU == nil || len(a.Options.Header) > 0 {
		t.Errorf("have %+v", a)
	}
	if want := []client.Header{{Name: "Host", Value: "other"}}; b.Name != "b" || b.CPU != nil || !slices.Equal(b.Options.Header, want) {
		t.Errorf("have %+v", b)
	}
}

func TestCompareSources(t *testing.T) {
	t.Parallel()
	g, _ := parsed(t, strings.Fields("httpgen compare dir/a.json b=1.json,2.json")...)
	urls, files, err := g.Compare.sources()
	if want := []savedArm{{"", []string{"dir/a.json"}}, {"b", []string{"1.json", "2.json"}}}; err != nil || urls != nil || !reflect.DeepEqual(files, want) {
		t.Errorf("have %v, %v, %v; want %v", urls, files, err, want)
	}
}

func TestFairOptions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, argv string
		sources    []string // of each client
		warning    string
	}{
		{"own addresses", "http://127.0.0.9/ --clients 3 --rate 5", []string{"127.0.0.2", "127.0.0.3", "127.0.0.4"}, ""},
		{"far away", "http://192.0.2.1/ --clients 2 --rate 5", []string{"", ""}, "client c1 has no source address of its own"},
		{"dealt out", "http://192.0.2.1/ --clients 2 --rate 5 --myaddr 10.0.0.1-10.0.0.3", []string{"10.0.0.1 10.0.0.3", "10.0.0.2"}, ""},
		{"too few", "http://127.0.0.1/ --clients 2 --rate 5 --myaddr 127.0.0.7", []string{"127.0.0.7", "127.0.0.7"}, "clients c1 and c2 come from 127.0.0.7"},
		{"said", "http://127.0.0.1/ --rate 5 --client name=a,source=127.0.0.7,source=127.0.0.8 --client name=b,source=127.0.0.9", []string{"127.0.0.7 127.0.0.8", "127.0.0.9"}, ""},
		{"said once", "http://127.0.0.1/ --rate 5 --client name=a,source=127.0.0.7 --client name=b", []string{"127.0.0.7", ""}, "client b has no source address"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g, p := parsed(t, append([]string{"httpgen", "fair"}, strings.Fields(tt.argv)...)...)
			o, warnings, err := g.Fair.options(p, testLookup)
			if err != nil {
				t.Fatal(err)
			}
			var have []string
			for _, c := range o.Clients {
				var list []string
				for _, a := range c.Options.Sources {
					list = append(list, a.String())
				}
				have = append(have, strings.Join(list, " "))
			}
			if !slices.Equal(have, tt.sources) {
				t.Errorf("sources %q, want %q", have, tt.sources)
			}
			if text := strings.Join(warnings, "\n"); (text == "") != (tt.warning == "") || !strings.HasPrefix(text, tt.warning) {
				t.Errorf("warnings %q, want %q", text, tt.warning)
			}
		})
	}
	g, p := parsed(t, strings.Fields("httpgen fair http://127.0.0.1/ --rate 2000 --num-conn 100000 --num-call 1 --timeout 5 --clients 3 --weights 1:3:6 --join c2@10s --leave c3@40s --repeat 6 --rotate --baseline --margin 1% --level 0.9 --poisson --seed 4")...)
	o, _, err := g.Fair.options(p, testLookup)
	if err != nil {
		t.Fatal(err)
	}
	if o.Arrivals != 100000 || o.Duration != 0 || o.Repeat != 6 || !o.Rotate || !o.Baseline || o.Margin != 0.01 || o.Level != 0.9 || !o.Poisson || o.Seed != 4 {
		t.Errorf("have %+v", o)
	}
	for i, want := range []experiment.Client{{Name: "c1", Weight: 1}, {Name: "c2", Weight: 3, Join: 10 * time.Second}, {Name: "c3", Weight: 6, Leave: 40 * time.Second}} {
		c := o.Clients[i]
		if want.Rate = 2000; c.Name != want.Name || c.Weight != want.Weight || c.Rate != want.Rate || c.Join != want.Join || c.Leave != want.Leave || c.Options.Timeout != 5*time.Second || c.Options.NumCalls != 1 {
			t.Errorf("have %+v, want %+v", c, want)
		}
	}
	g, p = parsed(t, "httpgen", "fair", "http://127.0.0.1/", "--rate", "5", "-H", "A: b", "--client", "name=a,url=http://192.0.2.1:81/x,rate=7,header=C: d", "--client", "name=b")
	if o, _, err = g.Fair.options(p, testLookup); err != nil {
		t.Fatal(err)
	}
	a, b := &o.Clients[0], &o.Clients[1]
	if a.Rate != 7 || a.Options.Server != "192.0.2.1" || a.Options.Port != 81 || len(a.Options.Header) != 2 || b.Rate != 5 || b.Options.Server != "127.0.0.1" || len(b.Options.Header) != 1 {
		t.Errorf("have %+v", o.Clients)
	}
}

func TestSuccessor(t *testing.T) {
	t.Parallel()
	if have, want := successor(loopback("127.3.2.1"), 300), netip.MustParseAddr("127.0.1.45"); have != want {
		t.Errorf("have %v, want %v", have, want)
	}
	for _, name := range []string{"localhost", "::1", "10.0.0.1", ""} {
		if loopback(name).IsValid() {
			t.Errorf("%q is taken for an address of 127.0.0.0/8", name)
		}
	}
}

func TestFindingsCode(t *testing.T) {
	t.Parallel()
	trial := func(started, replies uint64) experiment.Trial {
		r := &report.Result{}
		r.Totals.Arrivals.Started, r.Totals.Replies = started, replies
		return experiment.Trial{Result: r}
	}
	for _, tt := range []struct {
		name   string
		f      findings
		signal os.Signal
		want   int
	}{
		{"well", findings{verdict: report.Valid, trials: []experiment.Trial{trial(5, 0), trial(5, 1)}}, nil, 0},
		{"degraded", findings{verdict: report.Degraded}, nil, 0},
		{"silent", findings{verdict: report.Valid, trials: []experiment.Trial{trial(5, 0)}}, nil, 3},
		{"broken and silent", findings{verdict: report.Valid, broken: true, trials: []experiment.Trial{trial(5, 0)}}, nil, 99},
		{"invalid and broken", findings{verdict: report.Invalid, broken: true}, nil, 4},
		{"signal", findings{verdict: report.Invalid, broken: true}, syscall.SIGTERM, 143},
	} {
		if have := tt.f.code(tt.signal); have != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, have, tt.want)
		}
	}
}

// Saved results are refused with the name of what is wrong.
func TestParseSaved(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:                                    "want a result in JSON",
		`{}`:                                  `schema "": want httpgen.result/1 or httpgen.compare/1`,
		`{"schema": "httpgen.sweep/1"}`:       `schema "httpgen.sweep/1"`,
		`{"schema": "httpgen.result/1", "x":`: "unexpected end",
		`{"schema": "httpgen.result/1", "totals": 5}`: "totals",
	} {
		if _, err := parseSaved([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
}

// Whatever a file says, it is compared or refused.
func FuzzParseSaved(f *testing.F) {
	f.Add([]byte(`{"schema": "httpgen.result/1", "run": {"id": "a", "sending_seconds": 1}, "windows": [{"length_seconds": 1}]}`))
	f.Add([]byte(`{"schema": "httpgen.compare/1", "baseline": "a", "metric": "p50", "plan": {"rate_per_second": 5, "blocks": 6}, "arms": [{"name": "a"}, {"name": "b"}],
		"blocks": [{"index": 1, "order": ["a", "b"]}], "trials": [{"id": 1, "arm": "a", "block": 1, "result": {}}, {"id": 2, "arm": "b", "block": 1, "result": {}}]}`))
	h := hdrhistogram.New(1, 1e9, 2)
	if err := h.RecordValue(5e6); err != nil {
		f.Fatal(err)
	}
	text, err := h.EncodeV2()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(fmt.Appendf(nil, `{"schema": "httpgen.result/1", "times": {"latency": {"count": 1, "hdr": %q}, "all": {"count": 1}}}`, text))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := parseSaved(b)
		switch {
		case err != nil:
			return
		case s.compare != nil:
			_, _ = reconsider(s.compare, experiment.CompareOptions{})
		default:
			_, _ = experiment.CompareSaved([]experiment.Saved{{Name: "a", Results: []*report.Result{s.result}}, {Name: "b", Results: []*report.Result{s.result, s.result}}}, experiment.CompareOptions{})
		}
	})
}
