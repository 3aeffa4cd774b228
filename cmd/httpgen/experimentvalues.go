package main

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"httpgen/internal/experiment"
)

// quantity is a number above 0, of arrivals per second or of what a sweep is over.
type quantity float64

func (q *quantity) UnmarshalText(b []byte) error {
	v, err := parseQuantity(strings.TrimSuffix(string(b), "/s"))
	if err != nil {
		return fmt.Errorf("%q: want a number above 0, such as 500", b)
	}
	*q = quantity(v)
	return nil
}

var errQuantity = errors.New("want a number above 0")

func parseQuantity(s string) (float64, error) {
	v, err := number(s)
	if err != nil || v.Sign() <= 0 {
		return 0, errQuantity
	}
	f, _ := v.Float64()
	return f, nil
}

// quantities is a list of them.
type quantities []float64

func (q *quantities) UnmarshalText(b []byte) error {
	*q = nil
	for item := range strings.SplitSeq(string(b), ",") {
		v, err := parseQuantity(strings.TrimSpace(item))
		if err != nil {
			return fmt.Errorf("%q: %q: want numbers above 0 with commas, such as 100,200,400", b, item)
		}
		*q = append(*q, v)
	}
	return nil
}

// share is a part of a whole, 0 or more: 2% or 0.02.
type share float64

func (f *share) UnmarshalText(b []byte) error {
	text, hundredths := strings.CutSuffix(string(b), "%")
	v, err := number(strings.TrimSpace(text))
	if err != nil || v.Sign() < 0 {
		return fmt.Errorf("%q: want a share such as 2%% or 0.02", b)
	}
	if hundredths {
		v.Quo(v, big.NewRat(100, 1))
	}
	x, _ := v.Float64()
	*f = share(x)
	return nil
}

// multiple is how many times as much, above 0.
type multiple float64

func (m *multiple) UnmarshalText(b []byte) error {
	v, err := parseQuantity(strings.TrimSuffix(string(b), "x"))
	if err != nil {
		return fmt.Errorf("%q: want a multiple such as 3x", b)
	}
	*m = multiple(v)
	return nil
}

// objective is what a target has to keep to.
type objective struct{ experiment.Objective }

func (o *objective) UnmarshalText(b []byte) (err error) {
	o.Objective, err = experiment.ParseObjective(string(b))
	return bare(err)
}

// weights are those of clients, such as 1:3:6.
type weights []float64

func (w *weights) UnmarshalText(b []byte) error {
	*w = nil
	for item := range strings.SplitSeq(string(b), ":") {
		v, err := parseQuantity(item)
		if err != nil {
			return fmt.Errorf("%q: %q: want numbers above 0 with colons, such as 1:3:6", b, item)
		}
		*w = append(*w, v)
	}
	return nil
}

// A moment is when a client comes or goes: NAME@TIME.
type moment struct {
	name string
	at   time.Duration
}

func (m *moment) UnmarshalText(b []byte) error {
	i := strings.LastIndexByte(string(b), '@')
	if i < 1 {
		return fmt.Errorf("%q: want NAME@TIME, such as b@10s", b)
	}
	m.name = string(b[:i])
	at := (*span)(&m.at)
	return at.UnmarshalText(b[i+1:])
}
