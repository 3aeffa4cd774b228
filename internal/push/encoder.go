package push

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/encoding/protowire"
)

const (
	staleNaN  = 0x7ff0000000000002 // the bits of the value that ends a series
	normalNaN = 0x7ff8000000000001 // those of any other NaN
)

// Fields of the messages of remote write, version 1 (prometheus.WriteRequest).
const (
	requestSeries = 1

	seriesLabel     = 1
	seriesSample    = 2
	seriesHistogram = 4

	labelName  = 1
	labelValue = 2

	sampleValue = 1
	sampleTime  = 2

	histogramCount          = 1
	histogramCountFloat     = 2
	histogramSum            = 3
	histogramSchema         = 4
	histogramZeroThreshold  = 5
	histogramZeroCount      = 6
	histogramZeroCountFloat = 7
	histogramNegative       = 8  // spans, then deltas, then counts
	histogramPositive       = 11 // the same
	histogramReset          = 14
	histogramTime           = 15

	spanOffset = 1
	spanLength = 2

	resetGauge = 3 // it may decrease
)

// An encoder makes remote-write messages. It remembers all series, so that it
// can end them.
type encoder struct {
	labels []label // of every series
	native bool    // native histograms are sent as such

	known  map[string]*series // by encoded labels
	series []*series          // in the order they came

	// Of the message that is being made:
	message []byte
	samples uint64
	at      int64  // timestamp in milliseconds
	twice   string // a name that two samples have all labels in common with

	set     []label // buffers
	encoded []byte
	one     []byte
}

// A series is a set of labels that a sample was sent with.
type series struct {
	labels string // encoded
	last   int64  // timestamp of its newest sample in milliseconds
	native bool
}

func newEncoder(labels []label, native bool) *encoder {
	return &encoder{labels: labels, native: native, known: map[string]*series{}}
}

// encode makes the message of what was gathered at a time, in milliseconds,
// that is later than the one before. A series that is not there any more ends.
// Of samples with equal labels the first is sent, and the error says so.
func (e *encoder) encode(families []*dto.MetricFamily, at int64) (message []byte, samples uint64, err error) {
	e.message, e.samples, e.at, e.twice = make([]byte, 0, len(e.message)), 0, at, ""
	for _, f := range families {
		for _, m := range f.GetMetric() {
			e.metric(f.GetName(), f.GetType(), m)
		}
	}
	if e.samples < uint64(len(e.series)) {
		e.series = slices.DeleteFunc(e.series, func(s *series) bool {
			if s.last == at {
				return false
			}
			e.message = e.appendEnd(e.message, s)
			delete(e.known, s.labels)
			return true
		})
	}
	if e.twice != "" {
		err = fmt.Errorf("metric %q was gathered twice with the same labels: want different ones", e.twice)
	}
	return e.message, e.samples, err
}

// end makes the message that ends all series.
func (e *encoder) end() []byte {
	var message []byte
	for _, s := range e.series {
		message = e.appendEnd(message, s)
	}
	return message
}

// appendEnd appends the mark that ends a series, 1 ms after its last sample.
func (e *encoder) appendEnd(b []byte, s *series) []byte {
	stale := math.Float64frombits(staleNaN)
	if s.native {
		e.one = appendHistogram(e.one[:0], &dto.Histogram{}, stale, false, s.last+1)
		return appendSeries(b, s.labels, seriesHistogram, e.one)
	}
	e.one = appendSample(e.one[:0], stale, s.last+1)
	return appendSeries(b, s.labels, seriesSample, e.one)
}

func (e *encoder) metric(name string, kind dto.MetricType, m *dto.Metric) {
	switch kind {
	case dto.MetricType_COUNTER:
		e.sample(name, m, label{}, m.GetCounter().GetValue())
	case dto.MetricType_GAUGE:
		e.sample(name, m, label{}, m.GetGauge().GetValue())
	case dto.MetricType_UNTYPED:
		e.sample(name, m, label{}, m.GetUntyped().GetValue())
	case dto.MetricType_SUMMARY:
		s := m.GetSummary()
		for _, q := range s.GetQuantile() {
			e.sample(name, m, label{"quantile", formatFloat(q.GetQuantile())}, q.GetValue())
		}
		e.sample(name+"_sum", m, label{}, s.GetSampleSum())
		e.sample(name+"_count", m, label{}, float64(s.GetSampleCount()))
	case dto.MetricType_HISTOGRAM, dto.MetricType_GAUGE_HISTOGRAM:
		h := m.GetHistogram()
		if e.native && isNative(h) {
			e.histogram(name, m, h, kind == dto.MetricType_GAUGE_HISTOGRAM)
		} else {
			e.classic(name, m, h)
		}
	}
}

// classic adds the series of a classic histogram.
func (e *encoder) classic(name string, m *dto.Metric, h *dto.Histogram) {
	count := oneOf(h.GetSampleCountFloat(), h.GetSampleCount())
	unbounded := false
	for _, b := range h.GetBucket() {
		unbounded = unbounded || math.IsInf(b.GetUpperBound(), 1)
		e.sample(name+"_bucket", m, label{"le", formatFloat(b.GetUpperBound())}, oneOf(b.GetCumulativeCountFloat(), b.GetCumulativeCount()))
	}
	if !unbounded {
		e.sample(name+"_bucket", m, label{"le", "+Inf"}, count)
	}
	e.sample(name+"_sum", m, label{}, h.GetSampleSum())
	e.sample(name+"_count", m, label{}, count)
}

// sample adds a value.
func (e *encoder) sample(name string, m *dto.Metric, extra label, value float64) {
	if labels, ok := e.identify(name, m, extra, false); ok {
		e.one = appendSample(e.one[:0], notStale(value), e.at)
		e.message = appendSeries(e.message, labels, seriesSample, e.one)
	}
}

// histogram adds a native histogram.
func (e *encoder) histogram(name string, m *dto.Metric, h *dto.Histogram, gauge bool) {
	if labels, ok := e.identify(name, m, label{}, true); ok {
		e.one = appendHistogram(e.one[:0], h, notStale(h.GetSampleSum()), gauge, e.at)
		e.message = appendSeries(e.message, labels, seriesHistogram, e.one)
	}
}

// identify returns the encoded labels of a sample, in order of their names, and
// notes that its series has one. It returns false if it already had.
func (e *encoder) identify(name string, m *dto.Metric, extra label, native bool) (labels string, ok bool) {
	e.set = append(e.set[:0], label{"__name__", name})
	if extra.name != "" {
		e.set = append(e.set, extra)
	}
	for _, p := range m.GetLabel() {
		if p.GetName() != "" && p.GetValue() != "" { // an empty value is no label
			e.set = append(e.set, label{p.GetName(), p.GetValue()})
		}
	}
	e.set = append(e.set, e.labels...)
	// Of labels with the same name the first stands: the sort is stable.
	slices.SortStableFunc(e.set, func(a, b label) int { return cmp.Compare(a.name, b.name) })
	e.set = slices.CompactFunc(e.set, func(a, b label) bool { return a.name == b.name })
	e.encoded = e.encoded[:0]
	for _, l := range e.set {
		e.encoded = appendLabel(e.encoded, l)
	}
	s, known := e.known[string(e.encoded)]
	if !known {
		s = &series{labels: string(e.encoded)}
		e.series = append(e.series, s)
		e.known[s.labels] = s
	} else if s.last == e.at {
		e.twice = name
		return "", false
	}
	s.last, s.native = e.at, native
	e.samples++
	return s.labels, true
}

// isNative says whether h has native buckets. One without values has a zero
// bucket or a span of no length.
func isNative(h *dto.Histogram) bool {
	return len(h.GetPositiveSpan()) > 0 || len(h.GetNegativeSpan()) > 0 || h.GetZeroThreshold() > 0 ||
		h.GetZeroCount() > 0 || h.GetZeroCountFloat() > 0
}

// notStale returns v, or a NaN that does not end a series for any NaN.
func notStale(v float64) float64 {
	if math.IsNaN(v) {
		return math.Float64frombits(normalNaN)
	}
	return v
}

// oneOf returns a count that is given as a float if that is above 0.
func oneOf(float float64, whole uint64) float64 {
	if float > 0 {
		return float
	}
	return float64(whole)
}

// formatFloat writes a label's value as the text format has it.
func formatFloat(v float64) string {
	return strconv.FormatFloat(v, 'g', -1, 64) // infinity is +Inf
}

// appendSeries appends a series with one sample or histogram.
func appendSeries(b []byte, labels string, field protowire.Number, value []byte) []byte {
	b = protowire.AppendTag(b, requestSeries, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(len(labels)+protowire.SizeTag(field)+protowire.SizeBytes(len(value))))
	b = append(b, labels...)
	return appendMessage(b, field, value)
}

func appendLabel(b []byte, l label) []byte {
	size := protowire.SizeTag(labelName) + protowire.SizeBytes(len(l.name)) + protowire.SizeTag(labelValue) + protowire.SizeBytes(len(l.value))
	b = protowire.AppendTag(b, seriesLabel, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(size))
	b = protowire.AppendTag(b, labelName, protowire.BytesType)
	b = protowire.AppendString(b, l.name)
	b = protowire.AppendTag(b, labelValue, protowire.BytesType)
	return protowire.AppendString(b, l.value)
}

func appendSample(b []byte, value float64, at int64) []byte {
	b = appendDouble(b, sampleValue, value)
	return appendVarint(b, sampleTime, uint64(at))
}

// appendHistogram appends a histogram of whole counts, or of floats if h has
// any.
func appendHistogram(b []byte, h *dto.Histogram, sum float64, gauge bool, at int64) []byte {
	if floats := h.GetSampleCountFloat() > 0 || h.GetZeroCountFloat() > 0; floats {
		b = appendDouble(b, histogramCountFloat, oneOf(h.GetSampleCountFloat(), h.GetSampleCount()))
		b = appendDouble(b, histogramZeroCountFloat, oneOf(h.GetZeroCountFloat(), h.GetZeroCount()))
	} else {
		b = appendVarint(b, histogramCount, h.GetSampleCount())
		b = appendVarint(b, histogramZeroCount, h.GetZeroCount())
	}
	b = appendDouble(b, histogramSum, sum)
	b = appendVarint(b, histogramSchema, protowire.EncodeZigZag(int64(h.GetSchema())))
	b = appendDouble(b, histogramZeroThreshold, h.GetZeroThreshold())
	b = appendBuckets(b, histogramNegative, h.GetNegativeSpan(), h.GetNegativeDelta(), h.GetNegativeCount())
	b = appendBuckets(b, histogramPositive, h.GetPositiveSpan(), h.GetPositiveDelta(), h.GetPositiveCount())
	if gauge {
		b = appendVarint(b, histogramReset, resetGauge)
	}
	return appendVarint(b, histogramTime, uint64(at))
}

// appendBuckets appends the fields of one sign from the first on.
func appendBuckets(b []byte, first protowire.Number, spans []*dto.BucketSpan, deltas []int64, counts []float64) []byte {
	var one []byte
	for _, s := range spans {
		one = appendVarint(one[:0], spanOffset, protowire.EncodeZigZag(int64(s.GetOffset())))
		one = appendVarint(one, spanLength, uint64(s.GetLength()))
		b = appendMessage(b, first, one)
	}
	if one = one[:0]; len(deltas) > 0 {
		for _, d := range deltas {
			one = protowire.AppendVarint(one, protowire.EncodeZigZag(d))
		}
		b = appendMessage(b, first+1, one)
	}
	if one = one[:0]; len(counts) > 0 {
		for _, c := range counts {
			one = protowire.AppendFixed64(one, math.Float64bits(c))
		}
		b = appendMessage(b, first+2, one)
	}
	return b
}

func appendMessage(b []byte, field protowire.Number, message []byte) []byte {
	b = protowire.AppendTag(b, field, protowire.BytesType)
	return protowire.AppendBytes(b, message)
}

func appendDouble(b []byte, field protowire.Number, v float64) []byte {
	b = protowire.AppendTag(b, field, protowire.Fixed64Type)
	return protowire.AppendFixed64(b, math.Float64bits(v))
}

func appendVarint(b []byte, field protowire.Number, v uint64) []byte {
	b = protowire.AppendTag(b, field, protowire.VarintType)
	return protowire.AppendVarint(b, v)
}
