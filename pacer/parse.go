package pacer

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrSequential is what Parse returns for a rate of zero, and ParsePeriod for a
// period of zero. It is no mistake: both ask for httperf's sequential mode, in
// which an arrival starts when the one before it has ended, and which therefore
// has no schedule. Test for it with errors.Is.
var ErrSequential = errors.New("zero asks for sequential mode, which has no schedule")

const (
	wantRate   = "want a number of arrivals per second or with a unit, such as 2000, 0.5, 1.5k/s or 6000/1m"
	wantPeriod = "want a period in seconds: T or dT, eT (exponential), uMIN,MAX (uniform) or vT1,D1,T2,D2... (variable)"
)

// Parse reads a process:
//
//	2000  2000/s  .5  1.5k/s  6000/1m      Constant
//	poisson:500  poisson:6000/1m           Poisson
//	uniform:5ms,15ms                       Uniform, bounds of the gaps
//	variable:0.1,2,0.05,2                  Variable, pairs of gap and duration
//	100:10s,200:10s  100:10s,200           Steps; the last rate is held for ever
//	100..5000@60s                          Ramp; the last rate is held for ever
//	trace:FILE  trace:FILE@2x              Trace, at twice the speed
//
// Any of them may be followed by " for 50s" or " first 1000", as For and First
// print themselves.
//
// A rate is a decimal number, k or M for thousands or millions, and the unit of
// time after a slash: s, m, h, ms or a Go duration; without one it is per
// second. It is kept exactly, 33.3 as 333 in 10 s, unless it
// has more digits than fit; then at least nine of them. A duration is a number of
// seconds or a Go duration. A rate of zero is ErrSequential, but for one end of
// a ramp and for some of the steps.
func Parse(s string) (Process, error) {
	p, err := parseProcess(s)
	if err != nil {
		return nil, fmt.Errorf("pacer: rate %q: %w", s, err)
	}
	return p, nil
}

func parseProcess(s string) (Process, error) {
	if s == "" {
		return nil, fmt.Errorf("%w: %s", errEmpty, wantRate)
	}
	if s, wrap, ok := cutBound(s); ok {
		p, err := parseProcess(s)
		if err != nil {
			return nil, err
		}
		return wrap(p), nil
	}
	kind, rest, colon := strings.Cut(s, ":")
	switch {
	case colon && kind == "poisson":
		c, err := parsePositive(rest)
		if err != nil {
			return nil, err
		}
		return Poisson(c), nil
	case colon && kind == "uniform":
		return parseUniform(rest)
	case colon && kind == "variable":
		return parseVariable(rest)
	case colon && kind == "trace":
		return parseTrace(rest)
	case strings.Contains(s, ".."):
		return parseRamp(s)
	case colon:
		return parseSteps(s)
	}
	c, err := parsePositive(s)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// ParsePeriod reads the argument of httperf's --period, in seconds: T or dT for
// equal gaps, eT for exponential ones with a mean of T, uMIN,MAX for uniform
// ones, vT1,D1,T2,D2... for gap T1 during D1, then T2 during D2 and so on in a
// cycle of any length. A period of zero is ErrSequential. Where a period is
// read, a Go duration may stand for the number.
func ParsePeriod(s string) (Process, error) {
	p, err := parsePeriod(s)
	if err != nil {
		return nil, fmt.Errorf("pacer: period %q: %w", s, err)
	}
	return p, nil
}

func parsePeriod(s string) (Process, error) {
	if s == "" {
		return nil, fmt.Errorf("%w: %s", errEmpty, wantPeriod)
	}
	switch s[0] {
	case 'd':
		s = s[1:]
	case 'e':
		c, err := parseGap(s[1:])
		if err != nil {
			return nil, err
		}
		return Poisson(c), nil
	case 'u':
		return parseUniform(s[1:])
	case 'v':
		return parseVariable(s[1:])
	}
	c, err := parseGap(s)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// parseGap reads the time from one arrival to the next.
func parseGap(s string) (Constant, error) {
	var c Constant
	d, err := parseDecimal(s)
	if err == nil {
		c, err = d.period()
	} else if g, goErr := time.ParseDuration(s); goErr == nil && err == errNumber {
		c, err = Constant{1, g}, nil
	}
	switch {
	case err != nil:
		return Constant{}, fmt.Errorf("%w: %s", err, wantPeriod)
	case c.Per == 0:
		return Constant{}, ErrSequential
	}
	return c, nil
}

// parseRate reads a rate, which may be zero.
func parseRate(s string) (Constant, error) {
	number, unit, slash := strings.Cut(s, "/")
	per := time.Second
	if slash {
		var err error
		if per, err = parseUnit(unit); err != nil {
			return Constant{}, fmt.Errorf("%w: %s", err, wantRate)
		}
	}
	shift := 0
	switch {
	case strings.HasSuffix(number, "k"):
		number, shift = number[:len(number)-1], 3
	case strings.HasSuffix(number, "M"):
		number, shift = number[:len(number)-1], 6
	}
	d, err := parseDecimal(number)
	if err != nil {
		return Constant{}, fmt.Errorf("%w: %s", err, wantRate)
	}
	d.exp += shift
	c, err := d.rate(per)
	if err != nil {
		return Constant{}, fmt.Errorf("%w: %s", err, wantRate)
	}
	return c, nil
}

// parsePositive reads a rate; zero is ErrSequential.
func parsePositive(s string) (Constant, error) {
	c, err := parseRate(s)
	if err == nil && c.N == 0 {
		err = ErrSequential
	}
	return c, err
}

// parseUnit reads what stands after the slash of a rate.
func parseUnit(s string) (time.Duration, error) {
	switch s {
	case "s", "m", "h", "ms", "us", "µs", "ns":
		s = "1" + s
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("unit %q", s)
	}
	return d, nil
}

func parseUniform(s string) (Process, error) {
	const want = "want uniform gaps MIN,MAX in seconds"
	list, err := parseList(s, want)
	if err != nil {
		return nil, err
	}
	if len(list) != 2 {
		return nil, fmt.Errorf("%d values: %s", len(list), want)
	}
	u := Uniform{list[0], list[1]}
	if u == (Uniform{}) {
		return nil, ErrSequential
	}
	if err := u.validate(); err != nil {
		return nil, err
	}
	return u, nil
}

func parseVariable(s string) (Process, error) {
	const want = "want pairs of gap and duration in seconds, both above 0: T1,D1,T2,D2..."
	list, err := parseList(s, want)
	if err != nil {
		return nil, err
	}
	if len(list)%2 != 0 {
		return nil, fmt.Errorf("%d values: %s", len(list), want)
	}
	var v Variable
	for i := 0; i < len(list); i += 2 {
		if list[i] == 0 || list[i+1] == 0 {
			return nil, fmt.Errorf("gap %s for %s: %s", list[i], list[i+1], want)
		}
		v = append(v, Gap{Every: list[i], For: list[i+1]})
	}
	if _, err := v.cycle(); err != nil {
		return nil, err
	}
	return v, nil
}

// parseList reads durations between commas.
func parseList(s, want string) ([]time.Duration, error) {
	var list []time.Duration
	for part := range strings.SplitSeq(s, ",") {
		d, err := parseSeconds(part)
		if err != nil {
			return nil, fmt.Errorf("%q: %w: %s", part, err, want)
		}
		list = append(list, d)
	}
	return list, nil
}

func parseRamp(s string) (Process, error) {
	const want = "want a ramp FROM..TO@DURATION, such as 100..5000@60s"
	from, rest, _ := strings.Cut(s, "..")
	to, over, at := strings.Cut(rest, "@")
	if !at {
		return nil, fmt.Errorf("no duration: %s", want)
	}
	var r Ramp
	var err error
	if r.From, err = parseRate(from); err != nil {
		return nil, fmt.Errorf("%q: %w", from, err)
	}
	if r.To, err = parseRate(to); err != nil {
		return nil, fmt.Errorf("%q: %w", to, err)
	}
	if r.Over, err = parseSeconds(over); err != nil {
		return nil, fmt.Errorf("duration %q: %w: %s", over, err, want)
	}
	switch {
	case r.Over == 0:
		return nil, fmt.Errorf("duration %q: zero: %s", over, want)
	case r.From.N == 0 && r.To.N == 0:
		return nil, ErrSequential
	}
	return r, nil
}

func parseSteps(s string) (Process, error) {
	const want = "want steps RATE:DURATION,RATE:DURATION..., such as 100:10s,200:10s"
	var steps Steps
	parts := strings.Split(s, ",")
	zero := true
	for i, part := range parts {
		rate, length, colon := strings.Cut(part, ":")
		var p Step
		var err error
		if p.Rate, err = parseRate(rate); err != nil {
			return nil, fmt.Errorf("step %q: %w", part, err)
		}
		switch {
		case colon:
			if p.For, err = parseSeconds(length); err != nil {
				return nil, fmt.Errorf("step %q: %w: %s", part, err, want)
			}
		case i < len(parts)-1:
			return nil, fmt.Errorf("step %q: no duration: %s", part, want)
		}
		zero = zero && p.Rate.N == 0
		steps = append(steps, p)
	}
	if zero {
		return nil, ErrSequential
	}
	return steps, nil
}

func parseTrace(s string) (Process, error) {
	path, speed, ok := cutSpeed(s)
	if !ok {
		path, speed = s, 1
	}
	if path == "" {
		return nil, errors.New("no file: want trace:FILE or trace:FILE@2x")
	}
	t := &Trace{path: path, speed: speed}
	if err := t.measure(); err != nil {
		return nil, err
	}
	return t, nil
}

// cutSpeed splits FILE@2x.
func cutSpeed(s string) (path string, speed float64, ok bool) {
	i := strings.LastIndexByte(s, '@')
	if i < 0 || !strings.HasSuffix(s, "x") {
		return "", 0, false
	}
	speed, err := parseFactor(s[i+1:])
	return s[:i], speed, err == nil
}

// parseFactor reads 2x or 1.5x.
func parseFactor(s string) (float64, error) {
	number, ok := strings.CutSuffix(s, "x")
	if !ok {
		return 0, errors.New("no x at the end")
	}
	if _, err := parseDecimal(number); err != nil {
		return 0, err
	}
	return strconv.ParseFloat(number, 64)
}

// cutBound splits off the last " for 50s" or " first 1000".
func cutBound(s string) (rest string, wrap func(Process) Process, ok bool) {
	i, j := strings.LastIndex(s, " for "), strings.LastIndex(s, " first ")
	switch {
	case i > j:
		d, err := parseSeconds(s[i+len(" for "):])
		return s[:i], func(p Process) Process { return For(p, d) }, err == nil
	case j > i:
		n, err := strconv.ParseUint(s[j+len(" first "):], 10, 64)
		return s[:j], func(p Process) Process { return First(p, n) }, err == nil
	}
	return "", nil, false
}
