package experiment

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An Objective is what a target has to keep to: all of its conditions, and that
// the number of open calls does not grow, which every objective implies.
type Objective []Condition

// A Condition bounds one metric of a trial.
type Condition struct {
	Metric string  `json:"metric"` // "p50" to "p99.99" of the latency, "errors", "achieved" or "goodput"
	Op     string  `json:"op"`     // "<", "<=", ">" or ">="
	Limit  float64 `json:"limit"`  // in seconds, as a share of the arrivals, or per second
}

// The metrics beside percentiles.
const (
	errorShare    = "errors"   // arrivals that failed or did not end, of all that were scheduled
	achievedShare = "achieved" // arrivals with good replies, of all that were scheduled
	goodput       = "goodput"  // good replies per second
	stable        = "stable"   // implied: calls open at the end are not more than early on
)

// ParseObjective reads conditions separated by commas, such as
// "p99<50ms,errors<0.1%,achieved>99%".
func ParseObjective(s string) (Objective, error) {
	var o Objective
	for item := range strings.SplitSeq(s, ",") {
		c, err := parseCondition(strings.TrimSpace(item))
		if err != nil {
			return nil, fmt.Errorf("experiment: objective %q: %w", s, err)
		}
		if slices.ContainsFunc(o, func(other Condition) bool { return other.Metric == c.Metric }) {
			return nil, fmt.Errorf("experiment: objective %q: %s twice, want one limit", s, c.Metric)
		}
		o = append(o, c)
	}
	return o, nil
}

func parseCondition(s string) (c Condition, err error) {
	i := strings.IndexAny(s, "<>")
	if i < 0 {
		return c, fmt.Errorf("condition %q: want METRIC<LIMIT or METRIC>LIMIT, such as p99<50ms", s)
	}
	c.Metric, c.Op = strings.TrimSpace(s[:i]), s[i:i+1]
	text := s[i+1:]
	if rest, ok := strings.CutPrefix(text, "="); ok {
		c.Op, text = c.Op+"=", rest
	}
	text = strings.TrimSpace(text)
	below := c.Op[0] == '<'
	switch q, percentile := quantileOf(c.Metric); {
	case percentile:
		c.Metric = percentileName(q)
		if !below {
			return c, fmt.Errorf("condition %q: a latency is bounded from above, want %s<LIMIT", s, c.Metric)
		}
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return c, fmt.Errorf("condition %q: limit %q: want a duration above 0 with its unit, such as 50ms", s, text)
		}
		c.Limit = d.Seconds()
	case c.Metric == errorShare:
		if !below {
			return c, fmt.Errorf("condition %q: errors are bounded from above, want errors<LIMIT", s)
		}
		c.Limit, err = parseShare(text)
	case c.Metric == achievedShare:
		if below {
			return c, fmt.Errorf("condition %q: what is achieved is bounded from below, want achieved>LIMIT", s)
		}
		c.Limit, err = parseShare(text)
	case c.Metric == goodput:
		if below {
			return c, fmt.Errorf("condition %q: goodput is bounded from below, want goodput>LIMIT", s)
		}
		c.Limit, err = strconv.ParseFloat(strings.TrimSuffix(text, "/s"), 64)
		if err != nil || !(c.Limit > 0 && c.Limit <= 1e9) {
			return c, fmt.Errorf("condition %q: limit %q: want a rate above 0 and at most 1e9, such as 500/s", s, text)
		}
	default:
		return c, fmt.Errorf("condition %q: metric %q: want p50 to p99.99, errors, achieved or goodput", s, c.Metric)
	}
	if err != nil {
		return c, fmt.Errorf("condition %q: %w", s, err)
	}
	return c, nil
}

// parseShare reads "0.1%" or "0.001".
func parseShare(s string) (float64, error) {
	text, percent := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0 && v < 1) {
		return 0, fmt.Errorf("limit %q: want a share of more than 0 and less than 100 %%, such as 0.1%% or 0.001", s)
	}
	return v, nil
}

// quantileOf returns the quantile that a metric such as "p99" or "p99.9" names.
// The names of results, "p999" and "p9999", are known too.
func quantileOf(metric string) (q float64, ok bool) {
	text, ok := strings.CutPrefix(metric, "p")
	if !ok || text == "" || strings.Trim(text, "0123456789.") != "" {
		return 0, false
	}
	switch text {
	case "999":
		return 0.999, true
	case "9999":
		return 0.9999, true
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v < 50 || v > 99.99 {
		return 0, false
	}
	return v / 100, true
}

func percentileName(q float64) string { return "p" + strconv.FormatFloat(100*q, 'g', 8, 64) }

// check refuses an objective without conditions.
func (o Objective) check() error {
	if len(o) == 0 {
		return errors.New("experiment: no objective: want at least one condition, such as p99<50ms")
	}
	return nil
}

// String returns the objective as ParseObjective reads it.
func (o Objective) String() string {
	items := make([]string, len(o))
	for i, c := range o {
		items[i] = c.String()
	}
	return strings.Join(items, ",")
}

// String returns the condition as ParseObjective reads it.
func (c Condition) String() string {
	limit := time.Duration(math.Round(c.Limit * 1e9)).String()
	switch c.Metric {
	case goodput:
		limit = strconv.FormatFloat(c.Limit, 'g', 6, 64) + "/s"
	case errorShare, achievedShare:
		limit = strconv.FormatFloat(100*c.Limit, 'g', 6, 64) + "%"
	}
	return c.Metric + c.Op + limit
}

// figure prints a value of the condition's metric for people.
func (c Condition) figure(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "infinite"
	case c.Metric == goodput:
		return short(v) + "/s"
	case c.Metric == errorShare || c.Metric == achievedShare:
		return percent(v)
	}
	return short(1e3*v) + " ms"
}

// met says whether a value keeps to the condition.
func (c Condition) met(v float64) bool {
	switch c.Op {
	case "<":
		return v < c.Limit
	case "<=":
		return v <= c.Limit
	case ">":
		return v > c.Limit
	}
	return v >= c.Limit
}

// Arrivals returns how many arrivals a trial needs for the percentiles of the
// objective to have a value.
func (o Objective) Arrivals() int {
	n := 1
	for _, c := range o {
		if q, ok := quantileOf(c.Metric); ok {
			n = max(n, int(math.Ceil(3.84*q/(1-q)-1e-9)))
		}
	}
	return n
}

// Latency returns the largest latency that the objective allows, 0 without a
// condition on latency.
func (o Objective) Latency() time.Duration {
	var limit float64
	for _, c := range o {
		if _, ok := quantileOf(c.Metric); ok {
			limit = max(limit, c.Limit)
		}
	}
	return time.Duration(math.Round(limit * 1e9))
}

// Deadline returns how long a call is waited for: four times the longest latency
// allowed, and at least a second.
func (o Objective) Deadline() time.Duration {
	return max(time.Second, 4*min(o.Latency(), 24*time.Hour))
}
