package push

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strconv"
	"testing"

	dto "github.com/prometheus/client_model/go"
)

// FuzzEncode encodes a metric of each type and compares what the test's decoder
// reads with what is expected of the definition of the series.
func FuzzEncode(f *testing.F) {
	f.Add("m", "client", "1", 1.5, uint64(3), int32(-2), int64(1700000000000))
	f.Add("", "__name__", "x", math.NaN(), uint64(math.MaxUint64), int32(math.MaxInt32), int64(1))
	f.Add("m", "job", "", math.Inf(1), uint64(0), int32(0), int64(math.MaxInt64-2))
	f.Add("m", "Zone", "\xff\n", math.Copysign(0, -1), uint64(1)<<53, int32(math.MinInt32), int64(2))
	f.Fuzz(func(t *testing.T, name, labelName, labelValue string, v float64, n uint64, i int32, at int64) {
		if at <= 0 || at > math.MaxInt64-2 || name == "" || labelName == "le" {
			return
		}
		pairs := []*dto.LabelPair{{Name: &labelName, Value: &labelValue}}
		family := func(suffix string, kind dto.MetricType, m *dto.Metric) *dto.MetricFamily {
			m.Label = pairs
			return &dto.MetricFamily{Name: new(name + suffix), Type: &kind, Metric: []*dto.Metric{m}}
		}
		native := &dto.Histogram{
			SampleCount: &n, SampleSum: &v, Schema: &i, ZeroThreshold: new(0.5), ZeroCount: &n,
			PositiveSpan: []*dto.BucketSpan{{Offset: &i, Length: new(uint32(n))}}, PositiveDelta: []int64{int64(i), int64(n)},
		}
		families := []*dto.MetricFamily{
			family("a", dto.MetricType_COUNTER, &dto.Metric{Counter: &dto.Counter{Value: &v}}),
			family("b", dto.MetricType_GAUGE, &dto.Metric{Gauge: &dto.Gauge{Value: &v}}),
			family("c", dto.MetricType_UNTYPED, &dto.Metric{Untyped: &dto.Untyped{Value: &v}}),
			family("d", dto.MetricType_HISTOGRAM, &dto.Metric{Histogram: &dto.Histogram{SampleCount: &n, SampleSum: &v, Bucket: []*dto.Bucket{{UpperBound: new(0.5), CumulativeCount: &n}}}}),
			family("e", dto.MetricType_HISTOGRAM, &dto.Metric{Histogram: native}),
		}
		e := newEncoder([]label{{"job", "j"}}, true)
		message, samples, err := e.encode(families, at)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode(message)
		if err != nil {
			t.Fatal(err)
		}

		if math.IsNaN(v) {
			v = math.Float64frombits(0x7ff8000000000001)
		}
		labels := func(name, le string) []label {
			all := map[string]string{"job": "j"}
			if labelName != "" && labelValue != "" {
				all[labelName] = labelValue
			}
			all["__name__"] = name
			if le != "" {
				all["le"] = le
			}
			var out []label
			for k, v := range all {
				out = append(out, label{k, v})
			}
			slices.SortFunc(out, func(a, b label) int { return cmp.Compare(a.name, b.name) })
			return out
		}
		want := []point{
			{labels(name+"a", ""), v, nil, at}, {labels(name+"b", ""), v, nil, at}, {labels(name+"c", ""), v, nil, at},
			{labels(name+"d_bucket", strconv.FormatFloat(0.5, 'f', 1, 64)), float64(n), nil, at},
			{labels(name+"d_bucket", "+Inf"), float64(n), nil, at},
			{labels(name+"d_sum", ""), v, nil, at},
			{labels(name+"d_count", ""), float64(n), nil, at},
			{labels(name+"e", ""), 0, &histogramPoint{
				count: n, zeroCount: n, sum: v, zeroThreshold: 0.5, schema: int64(i),
				spans:  [2][][2]int64{nil, {{int64(i), int64(uint32(n))}}},
				deltas: [2][]int64{nil, {int64(i), int64(n)}},
			}, at},
		}
		if samples != uint64(len(want)) {
			t.Errorf("%d samples are counted, want %d", samples, len(want))
		}
		compare(t, got, want)

		end, err := decode(e.end())
		if err != nil {
			t.Fatal(err)
		}
		for k := range want {
			want[k].at++
			want[k].value = math.Float64frombits(0x7ff0000000000002)
			if want[k].histogram != nil {
				want[k].value, want[k].histogram = 0, &histogramPoint{sum: want[k].value}
			}
		}
		compare(t, end, want)
	})
}

// compare compares points by the bits of their values.
func compare(t *testing.T, got, want []point) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d series, want %d", len(got), len(want))
	}
	bits := func(p point) (uint64, uint64) {
		if p.histogram == nil {
			return math.Float64bits(p.value), 0
		}
		return 0, math.Float64bits(p.histogram.sum)
	}
	for i, g := range got {
		w := want[i]
		gv, gs := bits(g)
		wv, ws := bits(w)
		same := gv == wv && gs == ws && g.at == w.at && reflect.DeepEqual(g.labels, w.labels) && (g.histogram == nil) == (w.histogram == nil)
		if same && g.histogram != nil {
			a, b := *g.histogram, *w.histogram
			a.sum, b.sum = 0, 0
			same = reflect.DeepEqual(a, b)
		}
		if !same {
			t.Errorf("series %d: got %v, want %v", i, g, w)
		}
	}
}
