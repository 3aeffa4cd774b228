package push

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// lines encodes families at a time and returns the decoded points as text.
func lines(t *testing.T, e *encoder, families []*dto.MetricFamily, at int64) []string {
	t.Helper()
	message, samples, err := e.encode(families, at)
	if err != nil {
		t.Fatal(err)
	}
	points, err := decode(message)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	live := uint64(0)
	for _, p := range points {
		out = append(out, p.String())
		if !p.stale() {
			live++
		}
	}
	if samples != live {
		t.Errorf("%d samples are counted, %d sent", samples, live)
	}
	return out
}

func gather(t *testing.T, cs ...prometheus.Collector) []*dto.MetricFamily {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(cs...)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return families
}

func TestEncode(t *testing.T) {
	t.Parallel()
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "replies_total"}, []string{"code", "Zone"})
	counter.WithLabelValues("200", "é\n").Add(3)
	counter.WithLabelValues("404", "")
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: "inflight"})
	gauge.Set(-1.5)
	histogram := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "latency_seconds", Buckets: []float64{5e-6, 0.1, 1}})
	for _, v := range []float64{5e-6, 0.05, 3} {
		histogram.Observe(v)
	}
	summary := prometheus.NewSummary(prometheus.SummaryOpts{Name: "pause_seconds", Objectives: map[float64]float64{0.5: 0.05}})
	summary.Observe(2)
	untyped := prometheus.NewUntypedFunc(prometheus.UntypedOpts{Name: "x", ConstLabels: prometheus.Labels{"job": "own"}}, func() float64 { return math.Inf(-1) })

	e := newEncoder([]label{{"instance", "h:1"}, {"job", "j"}}, false)
	got := lines(t, e, gather(t, counter, gauge, histogram, summary, untyped), 1700000000123)
	want := []string{
		`inflight{instance="h:1",job="j"} -1.5 @1700000000123`,
		`latency_seconds_bucket{instance="h:1",job="j",le="5e-06"} 1 @1700000000123`,
		`latency_seconds_bucket{instance="h:1",job="j",le="0.1"} 2 @1700000000123`,
		`latency_seconds_bucket{instance="h:1",job="j",le="1"} 2 @1700000000123`,
		`latency_seconds_bucket{instance="h:1",job="j",le="+Inf"} 3 @1700000000123`,
		`latency_seconds_sum{instance="h:1",job="j"} 3.050005 @1700000000123`,
		`latency_seconds_count{instance="h:1",job="j"} 3 @1700000000123`,
		`pause_seconds{instance="h:1",job="j",quantile="0.5"} 2 @1700000000123`,
		`pause_seconds_sum{instance="h:1",job="j"} 2 @1700000000123`,
		`pause_seconds_count{instance="h:1",job="j"} 1 @1700000000123`,
		`replies_total{code="404",instance="h:1",job="j"} 0 @1700000000123`,
		`replies_total{Zone="é\n",code="200",instance="h:1",job="j"} 3 @1700000000123`,
		`x{instance="h:1",job="own"} -Inf @1700000000123`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestEncodeEdges(t *testing.T) {
	t.Parallel()
	pair := func(name, value string) *dto.LabelPair { return &dto.LabelPair{Name: &name, Value: &value} }
	one := func(kind dto.MetricType, ms ...*dto.Metric) []*dto.MetricFamily {
		return []*dto.MetricFamily{nil, {Name: new("m"), Type: &kind, Metric: ms}}
	}
	for _, tt := range []struct {
		name     string
		families []*dto.MetricFamily
		want     []string
	}{
		{"nothing", nil, nil},
		{"no value", one(dto.MetricType_COUNTER, &dto.Metric{}), []string{`m{job="j"} 0 @7`}},
		{"nil metric", one(dto.MetricType_GAUGE, nil), []string{`m{job="j"} 0 @7`}},
		{"stale NaN", one(dto.MetricType_GAUGE, &dto.Metric{Gauge: &dto.Gauge{Value: new(math.Float64frombits(staleNaN))}}), []string{`m{job="j"} NaN @7`}},
		{"timestamp of its own", one(dto.MetricType_GAUGE, &dto.Metric{TimestampMs: new(int64(1))}), []string{`m{job="j"} 0 @7`}},
		{"empty job of its own", one(dto.MetricType_GAUGE, &dto.Metric{Label: []*dto.LabelPair{pair("job", ""), pair("", "v"), nil}}), []string{`m{job="j"} 0 @7`}},
		{"le and name of its own", one(dto.MetricType_HISTOGRAM, &dto.Metric{Label: []*dto.LabelPair{pair("le", "x"), pair("__name__", "y")}, Histogram: &dto.Histogram{SampleCount: new(uint64(4))}}),
			[]string{`m_bucket{job="j",le="+Inf"} 4 @7`, `m_sum{job="j",le="x"} 0 @7`, `m_count{job="j",le="x"} 4 @7`}},
		{"unbounded bucket", one(dto.MetricType_GAUGE_HISTOGRAM, &dto.Metric{Histogram: &dto.Histogram{SampleCountFloat: new(2.5), Bucket: []*dto.Bucket{{UpperBound: new(math.Inf(1)), CumulativeCountFloat: new(2.5)}}}}),
			[]string{`m_bucket{job="j",le="+Inf"} 2.5 @7`, `m_sum{job="j"} 0 @7`, `m_count{job="j"} 2.5 @7`}},
		{"unknown type", one(dto.MetricType(99), &dto.Metric{}), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := lines(t, newEncoder([]label{{"job", "j"}}, true), tt.families, 7); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestEncodeTwice(t *testing.T) {
	t.Parallel()
	kind := dto.MetricType_GAUGE
	m := func(v float64, labels ...*dto.LabelPair) *dto.Metric {
		return &dto.Metric{Label: labels, Gauge: &dto.Gauge{Value: &v}}
	}
	same := &dto.LabelPair{Name: new("job"), Value: new("j")}
	e := newEncoder([]label{{"job", "j"}}, false)
	message, samples, err := e.encode([]*dto.MetricFamily{{Name: new("m"), Type: &kind, Metric: []*dto.Metric{m(1), m(2, same)}}}, 5)
	if want := `metric "m" was gathered twice with the same labels: want different ones`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	points, derr := decode(message)
	if derr != nil || samples != 1 || len(points) != 1 || points[0].value != 1 {
		t.Errorf("%d samples, %v, %v, want the first only", samples, points, derr)
	}
}

// A series ends when it is gathered no more, and may come back.
func TestEncodeEnds(t *testing.T) {
	t.Parallel()
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "g"}, []string{"trial"})
	n := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "n", NativeHistogramBucketFactor: 1.1}, []string{"trial"})
	e := newEncoder([]label{{"job", "j"}}, true)
	step := func(at int64, want ...string) {
		t.Helper()
		got := lines(t, e, gather(t, g, n), at)
		for i := range got {
			got[i], _, _ = strings.Cut(strings.ReplaceAll(got[i], `job="j",trial=`, ""), " {")
		}
		if !slices.Equal(got, want) {
			t.Errorf("at %d: got %q, want %q", at, got, want)
		}
	}
	g.WithLabelValues("1")
	n.WithLabelValues("1")
	step(10, `g{"1"} 0 @10`, `n{"1"}`)
	g.Reset()
	n.Reset()
	g.WithLabelValues("2")
	step(20, `g{"2"} 0 @20`, `g{"1"} stale @11`, `n{"1"} stale @11`)
	g.WithLabelValues("1")
	step(30, `g{"1"} 0 @30`, `g{"2"} 0 @30`)
	points, err := decode(e.end())
	if err != nil {
		t.Fatal(err)
	}
	if len(points) != 2 || !points[0].stale() || !points[1].stale() || points[0].at != 31 || points[1].at != 31 {
		t.Errorf("the end is %v, want two marks at 31", points)
	}
}

func TestEncodeNative(t *testing.T) {
	t.Parallel()
	both := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "both", Buckets: []float64{1}, NativeHistogramBucketFactor: 1.1, NativeHistogramZeroThreshold: 1e-3})
	for _, v := range []float64{0, 0.5, 0.5, 2, -3} {
		both.Observe(v)
	}
	empty := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "empty", NativeHistogramBucketFactor: 1.1, NativeHistogramZeroThreshold: prometheus.NativeHistogramZeroThresholdZero})
	classic := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "classic", Buckets: []float64{1}})
	families := gather(t, both, empty, classic)

	message, _, err := newEncoder(nil, true).encode(families, 9)
	if err != nil {
		t.Fatal(err)
	}
	points, err := decode(message)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, p := range points {
		keys = append(keys, p.key())
	}
	if want := []string{"both{}", `classic_bucket{le="1"}`, `classic_bucket{le="+Inf"}`, "classic_sum{}", "classic_count{}", "empty{}"}; !slices.Equal(keys, want) {
		t.Fatalf("series %q, want %q", keys, want)
	}
	want := &histogramPoint{
		count: 5, zeroCount: 1, sum: 0, zeroThreshold: 1e-3, schema: 3,
		spans:  [2][][2]int64{{{13, 1}}, {{-8, 1}, {15, 1}}},
		deltas: [2][]int64{{1}, {2, -1}},
	}
	if got := points[0].histogram; !reflect.DeepEqual(got, want) || points[0].at != 9 {
		t.Errorf("got %+v @%d, want %+v @9", got, points[0].at, want)
	}
	if got, want := points[5].histogram, (&histogramPoint{schema: 3, spans: [2][][2]int64{nil, {{0, 0}}}}); !reflect.DeepEqual(got, want) {
		t.Errorf("empty: got %+v, want %+v", got, want)
	}

	message, _, err = newEncoder(nil, false).encode(families, 9)
	if err != nil {
		t.Fatal(err)
	}
	if points, err = decode(message); err != nil {
		t.Fatal(err)
	}
	for _, p := range points {
		if p.histogram != nil {
			t.Errorf("%v is native, want classic histograms only", p)
		}
	}
}

func TestEncodeFloats(t *testing.T) {
	t.Parallel()
	kind := dto.MetricType_GAUGE_HISTOGRAM
	h := &dto.Histogram{
		SampleCountFloat: new(4.5), SampleSum: new(math.NaN()), Schema: new(int32(-4)), ZeroCountFloat: new(0.5), ZeroThreshold: new(0.25),
		PositiveSpan: []*dto.BucketSpan{{Offset: new(int32(-2)), Length: new(uint32(2))}}, PositiveCount: []float64{1, 2},
		NegativeSpan: []*dto.BucketSpan{{Offset: new(int32(3)), Length: new(uint32(1))}}, NegativeCount: []float64{1},
	}
	message, _, err := newEncoder(nil, true).encode([]*dto.MetricFamily{{Name: new("f"), Type: &kind, Metric: []*dto.Metric{{Histogram: h}}}}, 3)
	if err != nil {
		t.Fatal(err)
	}
	points, err := decode(message)
	if err != nil {
		t.Fatal(err)
	}
	got := points[0].histogram
	if math.Float64bits(got.sum) != normalNaN {
		t.Errorf("sum %x, want a NaN that ends no series", math.Float64bits(got.sum))
	}
	got.sum = 0
	want := &histogramPoint{
		countFloat: 4.5, zeroCountFloat: 0.5, floats: true, zeroThreshold: 0.25, schema: -4, reset: 3,
		spans: [2][][2]int64{{{3, 1}}, {{-2, 2}}}, counts: [2][]float64{{1}, {1, 2}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
