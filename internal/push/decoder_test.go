package push

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// A point is one sample or histogram of a decoded message.
type point struct {
	labels    []label
	value     float64
	histogram *histogramPoint // instead of value
	at        int64
}

// A histogramPoint is a decoded native histogram.
type histogramPoint struct {
	count, zeroCount           uint64
	countFloat, zeroCountFloat float64
	floats                     bool
	sum, zeroThreshold         float64
	schema                     int64
	spans                      [2][][2]int64 // negative, positive: offset and length
	deltas                     [2][]int64
	counts                     [2][]float64
	reset                      uint64
}

// key writes the labels as Prometheus does.
func (p point) key() string {
	var name string
	var rest []string
	for _, l := range p.labels {
		if l.name == "__name__" {
			name = l.value
		} else {
			rest = append(rest, fmt.Sprintf("%s=%q", l.name, l.value))
		}
	}
	return name + "{" + strings.Join(rest, ",") + "}"
}

func (p point) stale() bool {
	v := p.value
	if p.histogram != nil {
		v = p.histogram.sum
	}
	return math.Float64bits(v) == 0x7ff0000000000002
}

func (p point) String() string {
	if p.stale() {
		return fmt.Sprintf("%s stale @%d", p.key(), p.at)
	}
	if p.histogram != nil {
		return fmt.Sprintf("%s %+v @%d", p.key(), *p.histogram, p.at)
	}
	return fmt.Sprintf("%s %v @%d", p.key(), p.value, p.at)
}

// A field is one of a message: a number, or bytes.
type field struct {
	number protowire.Number
	kind   protowire.Type
	value  uint64
	bytes  []byte
}

func fieldsOf(b []byte) (fields []field, err error) {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		b = b[n:]
		f := field{number: number, kind: kind}
		switch kind {
		case protowire.VarintType:
			f.value, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			f.value, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(b)
		default:
			return nil, fmt.Errorf("field %d has wire type %d", number, kind)
		}
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		b = b[n:]
		fields = append(fields, f)
	}
	return fields, nil
}

// decode reads a WriteRequest. It refuses what a receiver would: unknown fields,
// labels out of order, samples that repeat.
func decode(message []byte) (points []point, err error) {
	request, err := fieldsOf(message)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, f := range request {
		if f.number != 1 || f.kind != protowire.BytesType {
			return nil, fmt.Errorf("request: field %d of type %d", f.number, f.kind)
		}
		p, err := decodeSeries(f.bytes)
		if err != nil {
			return nil, err
		}
		if id := fmt.Sprintf("%q %d", p.labels, p.at); seen[id] {
			return nil, fmt.Errorf("twice: %v", p)
		} else {
			seen[id] = true
		}
		points = append(points, p)
	}
	return points, nil
}

func decodeSeries(b []byte) (p point, err error) {
	fields, err := fieldsOf(b)
	if err != nil {
		return p, err
	}
	values := 0
	for _, f := range fields {
		inner, err := fieldsOf(f.bytes)
		if err != nil {
			return p, err
		}
		switch f.number {
		case 1:
			var l label
			for _, f := range inner {
				switch {
				case f.number == 1 && f.kind == protowire.BytesType:
					l.name = string(f.bytes)
				case f.number == 2 && f.kind == protowire.BytesType:
					l.value = string(f.bytes)
				default:
					return p, fmt.Errorf("label: field %d of type %d", f.number, f.kind)
				}
			}
			if n := len(p.labels); n > 0 && p.labels[n-1].name >= l.name || values > 0 {
				return p, fmt.Errorf("label %q after %q", l, p.labels)
			}
			if l.name == "" || l.value == "" {
				return p, fmt.Errorf("an empty label: %q", l)
			}
			p.labels = append(p.labels, l)
		case 2:
			values++
			for _, f := range inner {
				switch {
				case f.number == 1 && f.kind == protowire.Fixed64Type:
					p.value = math.Float64frombits(f.value)
				case f.number == 2 && f.kind == protowire.VarintType:
					p.at = int64(f.value)
				default:
					return p, fmt.Errorf("sample: field %d of type %d", f.number, f.kind)
				}
			}
		case 4:
			values++
			if p.histogram, p.at, err = decodeHistogram(inner); err != nil {
				return p, err
			}
		default:
			return p, fmt.Errorf("series: field %d", f.number)
		}
	}
	if values != 1 {
		return p, errors.New("not one value")
	}
	return p, nil
}

func decodeHistogram(fields []field) (*histogramPoint, int64, error) {
	h := &histogramPoint{}
	var at int64
	for _, f := range fields {
		switch f.number {
		case 1:
			h.count = f.value
		case 2:
			h.countFloat, h.floats = math.Float64frombits(f.value), true
		case 3:
			h.sum = math.Float64frombits(f.value)
		case 4:
			h.schema = protowire.DecodeZigZag(f.value)
		case 5:
			h.zeroThreshold = math.Float64frombits(f.value)
		case 6:
			h.zeroCount = f.value
		case 7:
			h.zeroCountFloat = math.Float64frombits(f.value)
		case 8, 11:
			inner, err := fieldsOf(f.bytes)
			if err != nil {
				return nil, 0, err
			}
			var span [2]int64
			for _, f := range inner {
				switch f.number {
				case 1:
					span[0] = protowire.DecodeZigZag(f.value)
				case 2:
					span[1] = int64(f.value)
				default:
					return nil, 0, fmt.Errorf("span: field %d", f.number)
				}
			}
			sign := int(f.number-8) / 3
			h.spans[sign] = append(h.spans[sign], span)
		case 9, 12:
			for b := f.bytes; len(b) > 0; {
				v, n := protowire.ConsumeVarint(b)
				if n < 0 {
					return nil, 0, protowire.ParseError(n)
				}
				b = b[n:]
				sign := int(f.number-9) / 3
				h.deltas[sign] = append(h.deltas[sign], protowire.DecodeZigZag(v))
			}
		case 10, 13:
			for b := f.bytes; len(b) > 0; {
				v, n := protowire.ConsumeFixed64(b)
				if n < 0 {
					return nil, 0, protowire.ParseError(n)
				}
				b = b[n:]
				sign := int(f.number-10) / 3
				h.counts[sign] = append(h.counts[sign], math.Float64frombits(v))
			}
		case 14:
			h.reset = f.value
		case 15:
			at = int64(f.value)
		default:
			return nil, 0, fmt.Errorf("histogram: field %d", f.number)
		}
	}
	return h, at, nil
}
