package lab

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A field is a number in a tool's output: the last group of its pattern.
type field struct {
	what    string
	pattern *regexp.Regexp
}

func newField(what, pattern string) field { return field{what, regexp.MustCompile(pattern)} }

// find returns the field's number in text.
func (f field) find(text string) (float64, error) {
	m := f.pattern.FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("no %s in its output", f.what)
	}
	v, err := strconv.ParseFloat(m[len(m)-1], 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", f.what, err)
	}
	return v, nil
}

// optional returns the field's number in text, and 0 when it is not there.
func (f field) optional(text string) uint64 {
	v, err := f.find(text)
	if err != nil {
		return 0
	}
	return uint64(v)
}

var (
	httperfReplies = newField("replies", `(?m)^Total: .* replies (\d+) `)
	httperfSeconds = newField("duration", `(?m)^Total: .* test-duration ([\d.]+) s`)
	httperfErrors  = newField("errors", `(?m)^Errors: total (\d+)`)

	wrkRequests = newField("requests", `(?m)^\s*(\d+) requests in `)
	wrkRate     = newField("rate", `(?m)^Requests/sec:\s+([\d.]+)`)
	wrkSocket   = regexp.MustCompile(`Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)`)
	wrkStatus   = newField("statuses", `Non-2xx or 3xx responses: (\d+)`)

	abRequests = newField("requests", `(?m)^Complete requests:\s+(\d+)`)
	abFailed   = newField("failures", `(?m)^Failed requests:\s+(\d+)`)
	abRate     = newField("rate", `(?m)^Requests per second:\s+([\d.]+)`)

	heyRate  = newField("rate", `Requests/sec:\s+([\d.]+)`)
	heyOK    = newField("replies", `\[200\]\s+(\d+) responses`)
	heyOther = regexp.MustCompile(`\[(?:[13-5]\d\d|20[1-9])\]\s+(\d+) responses`)
	heyError = regexp.MustCompile(`(?m)^\s*\[(\d+)\]\s+Get `)
)

// parseHttperf reads httperf's report; also httpgen's, which has the same lines.
func parseHttperf(text string) (Measurement, error) {
	var m Measurement
	replies, err := httperfReplies.find(text)
	if err != nil {
		return m, err
	}
	seconds, err := httperfSeconds.find(text)
	if err != nil {
		return m, err
	}
	m.OK, m.Failed = uint64(replies), httperfErrors.optional(text)
	if seconds > 0 {
		m.Rate = replies / seconds
	}
	return m, nil
}

func parseWrk(text string) (Measurement, error) {
	var m Measurement
	n, err := wrkRequests.find(text)
	if err != nil {
		return m, err
	}
	m.Failed = wrkStatus.optional(text)
	m.OK = uint64(n) - m.Failed
	if e := wrkSocket.FindStringSubmatch(text); e != nil {
		for _, s := range e[1:] {
			n, err := strconv.ParseUint(s, 10, 64)
			if err != nil {
				return m, err
			}
			m.Failed += n
		}
	}
	m.Rate, err = wrkRate.find(text)
	return m, err
}

func parseAb(text string) (Measurement, error) {
	var m Measurement
	n, err := abRequests.find(text)
	if err != nil {
		return m, err
	}
	m.Failed = abFailed.optional(text)
	m.OK = uint64(n) - m.Failed
	m.Rate, err = abRate.find(text)
	return m, err
}

func parseHey(text string) (Measurement, error) {
	var m Measurement
	n, err := heyOK.find(text)
	if err != nil {
		return m, err
	}
	m.OK = uint64(n)
	lost := slices.Concat(heyError.FindAllStringSubmatch(text, -1), heyOther.FindAllStringSubmatch(text, -1))
	for _, e := range lost {
		n, err := strconv.ParseUint(e[1], 10, 64)
		if err != nil {
			return m, err
		}
		m.Failed += n
	}
	m.Rate, err = heyRate.find(text)
	return m, err
}

func parseVegeta(text string) (Measurement, error) {
	var r struct {
		Requests   uint64            `json:"requests"`
		Throughput float64           `json:"throughput"`
		Codes      map[string]uint64 `json:"status_codes"`
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return Measurement{}, err
	}
	ok := r.Codes["200"]
	return Measurement{OK: ok, Failed: r.Requests - ok, Rate: r.Throughput}, nil
}

// parseBare reads the key=value pairs of the bare loop.
func parseBare(text string) (Measurement, error) {
	pairs := map[string]float64{}
	for _, w := range strings.Fields(text) {
		key, value, _ := strings.Cut(w, "=")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return Measurement{}, fmt.Errorf("%q is no key=value pair with a number: %w", w, err)
		}
		pairs[key] = v
	}
	if _, ok := pairs["ok"]; !ok {
		return Measurement{}, fmt.Errorf("no count in its output")
	}
	return Measurement{OK: uint64(pairs["ok"]), Failed: uint64(pairs["failed"]), Rate: pairs["rate"]}, nil
}
