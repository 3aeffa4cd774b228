package main

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"httpgen/client"
	"httpgen/internal/http1"
	"httpgen/internal/run"
	"httpgen/internal/target"
	"httpgen/pacer"
)

// The types below are what flags are read into. Their errors quote the value and
// say what was wanted; kong puts the name of the flag in front.

const wantDuration = "want a duration such as 5s, 250ms, 1m30s or 2d, or a number of seconds"

// parseDuration reads a duration of 0 or more.
func parseDuration(s string) (time.Duration, error) {
	d, err := signedDuration(s)
	if err == nil && d < 0 {
		err = errors.New("negative")
	}
	if err != nil {
		return 0, fmt.Errorf("%q: %w: %s", s, err, wantDuration)
	}
	return d, nil
}

var (
	errDuration = errors.New("not a duration")
	errRange    = errors.New("out of range")
)

// signedDuration reads a number of seconds, or a Go duration with days in front.
func signedDuration(s string) (time.Duration, error) {
	if n, err := number(s); err == nil {
		return scale(n, time.Second)
	}
	days, rest, ok := strings.Cut(s, "d")
	if !ok {
		d, err := time.ParseDuration(s)
		if err != nil {
			return 0, errDuration
		}
		return d, nil
	}
	n, err := number(days)
	if err != nil {
		return 0, errDuration
	}
	d, err := scale(n, 24*time.Hour)
	if err != nil || rest == "" {
		return d, err
	}
	more, err := time.ParseDuration(rest)
	switch {
	case err != nil || more < 0:
		return 0, errDuration
	case more > math.MaxInt64-d:
		return 0, errRange
	}
	return d + more, nil
}

// number reads a decimal number such as 2, .5 or -1.
func number(s string) (*big.Rat, error) {
	digits := strings.TrimPrefix(s, "-")
	if strings.Trim(digits, "0123456789.") != "" || len(digits) > 100 {
		return nil, errors.New("not a number")
	}
	n, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil, errors.New("not a number")
	}
	return n, nil
}

// scale returns n times unit, rounded towards zero.
func scale(n *big.Rat, unit time.Duration) (time.Duration, error) {
	ns := new(big.Rat).Mul(n, new(big.Rat).SetInt64(int64(unit)))
	whole := new(big.Int).Quo(ns.Num(), ns.Denom())
	if !whole.IsInt64() {
		return 0, errRange
	}
	return time.Duration(whole.Int64()), nil
}

// duration is 0 or more.
type duration time.Duration

func (d *duration) UnmarshalText(b []byte) error {
	v, err := parseDuration(string(b))
	*d = duration(v)
	return err
}

// span is a duration above 0.
type span time.Duration

func (d *span) UnmarshalText(b []byte) error {
	v, err := parseDuration(string(b))
	if err == nil && v == 0 {
		err = fmt.Errorf("%q: want a duration above 0", b)
	}
	*d = span(v)
	return err
}

// multiples are the suffixes of counts.
var multiples = map[byte]int64{'k': 1e3, 'M': 1e6}

// parseCount reads a whole number from least to most, with k or M for thousands
// or millions.
func parseCount(s string, least, most int64) (int64, error) {
	text, factor := s, int64(1)
	if s != "" && multiples[s[len(s)-1]] > 0 {
		text, factor = s[:len(s)-1], multiples[s[len(s)-1]]
	}
	n, err := number(text)
	if err == nil {
		n.Mul(n, new(big.Rat).SetInt64(factor))
	}
	if err != nil || !n.IsInt() || n.Num().Cmp(big.NewInt(least)) < 0 || n.Num().Cmp(big.NewInt(most)) > 0 {
		return 0, fmt.Errorf("%q: want a whole number from %d to %d, such as 500, 20k or 1M", s, least, most)
	}
	return n.Num().Int64(), nil
}

// total is a number of arrivals, from 1.
type total uint64

func (n *total) UnmarshalText(b []byte) error {
	v, err := parseCount(string(b), 1, 1e18)
	*n = total(v)
	return err
}

// count is a number of anything else, from 1.
type count int

func (n *count) UnmarshalText(b []byte) error {
	v, err := parseCount(string(b), 1, math.MaxInt32)
	*n = count(v)
	return err
}

// room is how many of something may wait, from 0.
type room int

func (n *room) UnmarshalText(b []byte) error {
	v, err := parseCount(string(b), 0, math.MaxInt32)
	*n = room(v)
	return err
}

// units are the suffixes of sizes, the longer ones first.
var units = []struct {
	suffix string
	bytes  int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"B", 1}, {"", 1},
}

// size is a number of bytes, from 0.
type size int

func (n *size) UnmarshalText(b []byte) error {
	s := string(b)
	for _, u := range units {
		text, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		v, err := number(text)
		if err != nil {
			break
		}
		v.Mul(v, new(big.Rat).SetInt64(u.bytes))
		if !v.IsInt() || v.Sign() < 0 || v.Num().Cmp(big.NewInt(1<<30)) > 0 {
			break
		}
		*n = size(v.Num().Int64())
		return nil
	}
	return fmt.Errorf("%q: want a number of bytes up to %d, such as 4096, 64KiB or 1MB", s, 1<<30)
}

// seed is any number of 64 bits.
type seed uint64

func (n *seed) UnmarshalText(b []byte) error {
	v, err := strconv.ParseUint(string(b), 10, 64)
	if err != nil {
		return fmt.Errorf("%q: want a whole number from 0 to %d", b, uint64(math.MaxUint64))
	}
	*n = seed(v)
	return nil
}

// port is a TCP port.
type port int

func (n *port) UnmarshalText(b []byte) error {
	v, err := strconv.ParseUint(string(b), 10, 16)
	if err != nil || v == 0 {
		return fmt.Errorf("%q: want a port from 1 to 65535", b)
	}
	*n = port(v)
	return nil
}

// pace is when arrivals are due, as --rate or --period gave it. The zero value
// is neither.
type pace struct {
	text    string
	process pacer.Process // nil is httperf's sequential mode
}

func (p *pace) parse(s string, parse func(string) (pacer.Process, error)) error {
	process, err := parse(s)
	if err != nil && !errors.Is(err, pacer.ErrSequential) {
		return bare(err)
	}
	*p = pace{text: s, process: process}
	return nil
}

type rate struct{ pace }

func (r *rate) UnmarshalText(b []byte) error { return r.parse(string(b), pacer.Parse) }

type period struct{ pace }

func (p *period) UnmarshalText(b []byte) error { return p.parse(string(b), pacer.ParsePeriod) }

// bare drops the names of packages in front of an error.
func bare(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, name := range []string{"experiment: ", "stat: ", "pacer: ", "http1: ", "target: "} {
		text = strings.TrimPrefix(text, name)
	}
	if text == err.Error() {
		return err
	}
	return errors.New(text)
}

type catchUp struct{ pacer.CatchUp }

func (c *catchUp) UnmarshalText(b []byte) error {
	v, err := pacer.ParseCatchUp(string(b))
	c.CatchUp = v
	return bare(err)
}

// fleet is httperf's --client: number i of n.
type fleet struct{ i, n int }

func (f *fleet) UnmarshalText(b []byte) error {
	is, ns, ok := strings.Cut(string(b), "/")
	i, err := strconv.ParseInt(is, 10, 32)
	n, err2 := strconv.ParseInt(ns, 10, 32)
	if !ok || err != nil || err2 != nil || i < 0 || n <= i {
		return fmt.Errorf("%q: want I/N with I from 0 to N-1, such as 0/2 and 1/2", b)
	}
	*f = fleet{int(i), int(n)}
	return nil
}

// instant is an absolute time or a distance from now. The zero value is none.
type instant struct {
	at    time.Time
	after time.Duration
}

func (t *instant) UnmarshalText(b []byte) error {
	s := string(b)
	if text, ok := strings.CutPrefix(s, "+"); ok {
		d, err := parseDuration(text)
		*t = instant{after: d}
		return err
	}
	if text, ok := strings.CutPrefix(s, "@"); ok {
		if n, err := number(text); err == nil {
			if d, err := scale(n, time.Second); err == nil {
				*t = instant{at: time.Unix(0, int64(d))}
				return nil
			}
		}
	} else if at, err := time.Parse(time.RFC3339Nano, s); err == nil {
		*t = instant{at: at}
		return nil
	}
	return fmt.Errorf("%q: want a time such as 2030-01-02T15:04:05Z, @1893456000 (seconds since 1970) or +10s (from now)", s)
}

// when returns the time that t stands for.
func (t instant) when(now time.Time) time.Time {
	if t.after > 0 {
		return now.Add(t.after)
	}
	return t.at
}

// spin is how long a loop polls: 0 lets the program choose, below 0 is never.
type spin time.Duration

func (d *spin) UnmarshalText(b []byte) error {
	switch s := string(b); s {
	case "auto":
		*d = 0
	case "none":
		*d = -1
	default:
		v, err := parseDuration(s)
		if err != nil {
			return fmt.Errorf("%w, auto or none", err)
		}
		if v == 0 {
			v = -1
		}
		*d = spin(v)
	}
	return nil
}

// header is one header field, as in -H.
type header client.Header

func (h *header) UnmarshalText(b []byte) error {
	s := string(b)
	if strings.ContainsAny(s, "\r\n") {
		return errors.New("want one line (--add-header takes several)")
	}
	fields, err := http1.SplitFields([]byte(s + "\r\n"))
	if err != nil {
		return bare(err)
	}
	*h = header(fields[0])
	return nil
}

// addedHeader is httperf's --add-header: lines with escapes.
type addedHeader struct {
	fields   []client.Header
	warnings []string
}

func (a *addedHeader) UnmarshalText(b []byte) error {
	raw, warnings, err := http1.ParseAddHeader(string(b))
	if err != nil {
		return bare(err)
	}
	fields, err := http1.SplitFields(raw)
	if err != nil {
		return bare(err)
	}
	a.warnings = warnings
	for _, f := range fields {
		a.fields = append(a.fields, client.Header(f))
	}
	return nil
}

// body is what a request carries, as in curl's -d: text, or @FILE.
type body struct {
	bytes []byte
	given bool
}

func (d *body) UnmarshalText(b []byte) error {
	name, file := strings.CutPrefix(string(b), "@")
	if file {
		return (*bodyFile)(d).UnmarshalText([]byte(name))
	}
	*d = body{[]byte(name), true}
	return nil
}

// bodyFile is a body given by the name of its file.
type bodyFile body

func (d *bodyFile) UnmarshalText(b []byte) error {
	if name := string(b); name == "-" {
		return errors.New(`"-": standard input is not read, want the name of a file`)
	}
	content, err := readFile(string(b))
	*d = bodyFile{content, true}
	return err
}

// httpVersion is 1.0 or 1.1.
type httpVersion string

func (v *httpVersion) UnmarshalText(b []byte) error {
	*v = httpVersion(b)
	if *v != "1.0" && *v != "1.1" {
		return fmt.Errorf("%q: want 1.0 or 1.1", b)
	}
	return nil
}

type statusSet struct{ *run.StatusSet }

func (s *statusSet) UnmarshalText(b []byte) error {
	set, err := run.ParseStatusSet(string(b))
	s.StatusSet = set
	return err
}

// part says which sections of a message are printed.
type part uint8

const (
	headerPart part = 1 << iota
	bodyPart
)

// Decode implements kong.BoolMapperValue: the value is optional.
func (p *part) Decode(ctx *kong.DecodeContext) error {
	*p = headerPart | bodyPart
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	switch s := ctx.Scan.Pop().String(); s {
	case "header", "h":
		*p = headerPart
	case "body", "b":
		*p = bodyPart
	default:
		return fmt.Errorf("%q: want header or body, or no value for both", s)
	}
	return nil
}

// IsBool implements kong.BoolMapperValue.
func (*part) IsBool() bool { return true }

type service struct{ target.Service }

func (s *service) UnmarshalText(b []byte) error {
	v, err := target.ParseService(string(b))
	s.Service = v
	return bare(err)
}

type freeze target.Freeze

func (f *freeze) UnmarshalText(b []byte) error {
	v, err := target.ParseFreeze(string(b))
	*f = freeze(v)
	return bare(err)
}

type overload struct{ target.Overload }

func (o *overload) UnmarshalText(b []byte) error {
	v, err := target.ParseOverload(string(b))
	o.Overload = v
	return bare(err)
}
