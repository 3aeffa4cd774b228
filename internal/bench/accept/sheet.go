package main

import (
	"fmt"
	"io"
	"strconv"
)

// A sheet takes the figures of the checks.
type sheet struct {
	w     io.Writer
	check string // name of the check that runs
	short int    // figures that fell short
}

// put prints a figure with its limit.
func (s *sheet) put(ok bool, name, value, limit string) {
	verdict := "ok"
	if !ok {
		verdict = "FELL SHORT"
		s.short++
	}
	fmt.Fprintf(s.w, "%-38s %-30s (%s)  %s\n", s.check+"."+name, value, limit, verdict)
}

// note prints a figure without a limit.
func (s *sheet) note(name, value string) {
	fmt.Fprintf(s.w, "%-38s %-30s (shown)\n", s.check+"."+name, value)
}

// skip says why the check, or a part of it, was not made.
func (s *sheet) skip(why string) { fmt.Fprintf(s.w, "%-38s skipped: %s\n", s.check, why) }

// failed counts an error of a check as one figure that fell short.
func (s *sheet) failed(err error) { s.put(false, "error", err.Error(), "none") }

func (s *sheet) atMost(name string, v, limit float64, unit string) {
	s.put(v <= limit, name, number(v)+unit, "at most "+number(limit)+unit)
}

func (s *sheet) atLeast(name string, v, limit float64, unit string) {
	s.put(v >= limit, name, number(v)+unit, "at least "+number(limit)+unit)
}

func (s *sheet) within(name string, v, want, tolerance float64, unit string) {
	s.put(v >= want-tolerance && v <= want+tolerance, name, number(v)+unit, number(want)+" ± "+number(tolerance)+unit)
}

func (s *sheet) equal(name string, got, want uint64) {
	s.put(got == want, name, strconv.FormatUint(got, 10), strconv.FormatUint(want, 10))
}

func (s *sheet) is(name, got, want string) { s.put(got == want, name, got, want) }

// not holds when got differs from what it must not be.
func (s *sheet) not(name, got, bad string) { s.put(got != bad, name, got, "not "+bad) }

// number prints v with at most four digits behind the point, or as many as it
// takes to tell a small one from 0.
func number(v float64) string {
	if v != 0 && v > -.001 && v < .001 {
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	return strconv.FormatFloat(round(v), 'f', -1, 64)
}

func round(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', 4, 64), 64)
	if err != nil {
		return v
	}
	return r
}
