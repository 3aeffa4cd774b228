package pacer

import (
	"errors"
	"math"
	"math/bits"
	"time"
)

// A decimal is digits * 10^exp, the value of a number as it was written.
// Digits has no trailing zeros; of more digits than fit, 19 are kept.
type decimal struct {
	digits uint64
	exp    int
}

var (
	errEmpty    = errors.New("nothing there")
	errNumber   = errors.New("not a number")
	errNegative = errors.New("negative")
	errRange    = errors.New("out of range")
	errFast     = errors.New("above 1e9 arrivals per second")
	errSlow     = errors.New("less than one arrival in 292 years")
)

// parseDecimal reads digits with at most one point, and an exponent: 2000, .5,
// 1e3. Nothing else is a number here, neither NaN nor hexadecimal.
func parseDecimal(s string) (d decimal, err error) {
	switch {
	case s == "":
		return d, errEmpty
	case s[0] == '-':
		return d, errNegative
	}
	i, seen, point, full := 0, false, false, false
	for ; i < len(s); i++ {
		c := s[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		seen = true
		if full = full || d.digits > (math.MaxUint64-9)/10; full {
			if !point {
				d.exp++
			}
			continue
		}
		d.digits = d.digits*10 + uint64(c-'0')
		if point {
			d.exp--
		}
	}
	if !seen {
		return d, errNumber
	}
	if i < len(s) {
		e, err := parseExponent(s[i:])
		if err != nil {
			return d, err
		}
		d.exp += e
	}
	if d.digits == 0 {
		return decimal{}, nil
	}
	for d.digits%10 == 0 {
		d.digits /= 10
		d.exp++
	}
	return d, nil
}

// parseExponent reads e3, E+3 or e-3.
func parseExponent(s string) (e int, err error) {
	if s[0] != 'e' && s[0] != 'E' {
		return 0, errNumber
	}
	s = s[1:]
	sign := 1
	if s != "" && (s[0] == '-' || s[0] == '+') {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	if s == "" {
		return 0, errNumber
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, errNumber
		}
		e = min(e*10+int(c-'0'), 1<<20)
	}
	return sign * e, nil
}

// fraction returns d * 10^shift in lowest terms; ok is false when one of them
// does not fit.
func (d decimal) fraction(shift int) (num, den uint64, ok bool) {
	num, den = d.digits, 1
	e := d.exp + shift
	for ; e > 0 && num > 0; e-- {
		hi, lo := bits.Mul64(num, 10)
		if hi > 0 {
			return 0, 0, false
		}
		num = lo
	}
	for ; e < 0 && num > 0; e++ {
		hi, lo := bits.Mul64(den, 10)
		if hi > 0 {
			return 0, 0, false
		}
		den = lo
	}
	g := gcd(num, den)
	return num / g, den / g, true
}

func gcd(a, b uint64) uint64 {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// shorten drops the last digit, and says whether enough are left: nine, so that
// no more than one arrival in a hundred million is lost. A program that prints 100/3 as
// 33.333333333333336 means no more than that.
func (d *decimal) shorten() bool {
	if d.digits < 1e9 {
		return false
	}
	d.digits /= 10
	d.exp++
	return true
}

// rate returns d arrivals in per, exactly where the digits allow it.
func (d decimal) rate(per time.Duration) (Constant, error) {
	n, times, ok := d.fraction(0)
	if !ok && d.exp > 0 {
		return Constant{}, errFast
	}
	hi, lo := bits.Mul64(times, uint64(per))
	if !ok || hi > 0 || lo > math.MaxInt64 {
		if float64(d.digits)*math.Pow10(d.exp)*math.MaxInt64 < float64(per) {
			return Constant{}, errSlow
		}
		if !d.shorten() {
			return Constant{}, errRange
		}
		return d.rate(per)
	}
	return checkFast(Constant{n, time.Duration(lo)})
}

// period returns one arrival every d seconds, exactly where the digits allow
// it; {} when d is zero.
func (d decimal) period() (Constant, error) {
	if d.digits == 0 {
		return Constant{}, nil
	}
	ns, n, ok := d.fraction(9)
	switch {
	case (!ok || ns > math.MaxInt64) && n != 1 && d.shorten():
		return d.period()
	case !ok && d.exp+9 < 0: // less than a nanosecond
		return Constant{}, errFast
	case !ok || ns > math.MaxInt64:
		return Constant{}, errSlow
	}
	return checkFast(Constant{n, time.Duration(ns)})
}

// checkFast refuses more than one arrival a nanosecond.
func checkFast(c Constant) (Constant, error) {
	if c.N > uint64(c.Per) {
		return Constant{}, errFast
	}
	return c, nil
}

// seconds returns d seconds, rounded down to a nanosecond.
func (d decimal) seconds() (time.Duration, error) {
	for d.exp+9 < 0 {
		d.digits /= 10
		d.exp++
		if d.digits == 0 {
			return 0, nil
		}
	}
	ns, _, ok := d.fraction(9)
	if !ok || ns > math.MaxInt64 {
		return 0, errRange
	}
	return time.Duration(ns), nil
}

// parseSeconds reads a number of seconds or a Go duration, 0 or more.
func parseSeconds(s string) (time.Duration, error) {
	d, err := parseDecimal(s)
	if err == nil {
		return d.seconds()
	}
	g, goErr := time.ParseDuration(s)
	switch {
	case goErr != nil && err == errNumber:
		return 0, errors.New("neither a number of seconds nor a duration such as 10ms")
	case goErr != nil:
		return 0, err
	case g < 0:
		return 0, errNegative
	}
	return g, nil
}
