package accesslog

import (
	"bytes"
	"time"
)

// maxSeconds is where 2262 begins, in seconds since 1970: the times of a log are
// before it, so that each, and any two's distance, is a 64-bit number of
// nanoseconds.
const maxSeconds = 9_214_646_400

// stamp reads a time without its brackets: 10/Oct/2000:13:55:36 -0700, or
// seconds since 1970, both with up to nine digits of a fraction.
func stamp(b []byte) (ns int64, fraction, ok bool) {
	if len(b) < 4 || b[2] != '/' {
		seconds, digits, ok := bytes.Cut(b, []byte("."))
		whole, valid := decimal(seconds)
		part, fits := nanos(digits)
		if !valid || whole >= maxSeconds || ok && !fits {
			return 0, false, false
		}
		return int64(whole)*1e9 + part, ok, true
	}
	clock, zone, ok := bytes.Cut(b, []byte(" "))
	clock, digits, fraction := bytes.Cut(clock, []byte("."))
	seconds, valid := date(clock)
	east, known := offset(zone)
	part, fits := nanos(digits)
	if !ok || !valid || !known || fraction && !fits {
		return 0, false, false
	}
	return (seconds-east)*1e9 + part, fraction, true
}

// date reads 10/Oct/2000:13:55:36 as if it were UTC, in seconds since 1970.
func date(b []byte) (seconds int64, ok bool) {
	const layout = "02/Jan/2006:15:04:05"
	if len(b) != len(layout) || b[2] != '/' || b[6] != '/' || b[11] != ':' || b[14] != ':' || b[17] != ':' {
		return 0, false
	}
	day, ok1 := decimal(b[:2])
	year, ok2 := decimal(b[7:11])
	hour, ok3 := decimal(b[12:14])
	minute, ok4 := decimal(b[15:17])
	second, ok5 := decimal(b[18:])
	month := month(b[3:6])
	if !(ok1 && ok2 && ok3 && ok4 && ok5) || month == 0 || year < 1970 || year > 2261 || hour > 23 || minute > 59 || second > 60 {
		return 0, false
	}
	midnight := time.Date(int(year), month, int(day), 0, 0, 0, 0, time.UTC)
	if midnight.Day() != int(day) { // the month is shorter
		return 0, false
	}
	return midnight.Unix() + int64(hour*3600+minute*60+second), true
}

// month returns the month of a name of three letters, 0 for none.
func month(b []byte) time.Month {
	const names = "JanFebMarAprMayJunJulAugSepOctNovDec"
	for m := time.January; m <= time.December; m++ {
		if string(b) == names[3*m-3:3*m] {
			return m
		}
	}
	return 0
}

// offset reads a zone such as -0700, in seconds east of UTC.
func offset(b []byte) (seconds int64, ok bool) {
	if len(b) != len("-0700") || b[0] != '+' && b[0] != '-' {
		return 0, false
	}
	hours, ok1 := decimal(b[1:3])
	minutes, ok2 := decimal(b[3:])
	seconds = int64(hours*3600 + minutes*60)
	if b[0] == '-' {
		seconds = -seconds
	}
	return seconds, ok1 && ok2 && hours < 24 && minutes < 60
}

// nanos reads the digits behind a decimal point.
func nanos(b []byte) (ns int64, ok bool) {
	n, ok := decimal(b)
	if !ok || len(b) > 9 {
		return 0, false
	}
	for range 9 - len(b) {
		n *= 10
	}
	return int64(n), true
}

// decimal reads a number of 1 to 18 digits.
func decimal(b []byte) (n uint64, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, 1 <= len(b) && len(b) <= 18
}
