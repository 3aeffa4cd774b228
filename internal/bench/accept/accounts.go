package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"httpgen/internal/report"
)

// accounts returns what does not add up in t; empty when all does.
func accounts(t *report.Totals) string {
	var wrong []string
	for _, i := range []struct {
		name       string
		got, whole uint64
	}{
		{"scheduled", t.Arrivals.Started + t.Arrivals.Shed.Total(), t.Arrivals.Scheduled},
		{"started", t.Completed + t.Errors.Total + t.Unfinished, t.Arrivals.Started},
		{"calls", t.Calls.Replied + t.Calls.Unanswered + t.Calls.Unsent + t.Calls.Unfinished, t.Calls.Planned},
		{"errors", sum(counts(t.Errors)), t.Errors.Total},
	} {
		if i.got != i.whole {
			wrong = append(wrong, fmt.Sprintf("%s: %d of %d", i.name, i.got, i.whole))
		}
	}
	return strings.Join(wrong, ", ")
}

// counts returns the counts above 0 of v by their JSON keys, without the total.
func counts(v any) map[string]uint64 {
	b, err := json.Marshal(v)
	m := map[string]uint64{}
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		// The caller passes a struct of counts.
		panic("accept: " + err.Error())
	}
	maps.DeleteFunc(m, func(key string, n uint64) bool { return key == "total" || n == 0 })
	return m
}

func sum(m map[string]uint64) (total uint64) {
	for _, n := range m {
		total += n
	}
	return total
}

// list prints counts by name.
func list(m map[string]uint64) string {
	if len(m) == 0 {
		return "none"
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, m[name]))
	}
	return strings.Join(parts, ", ")
}

// adds holds when the accounts are exact.
func (s *sheet) adds(name string, t *report.Totals) {
	wrong := accounts(t)
	if wrong == "" {
		wrong = "exact"
	}
	s.is(name, wrong, "exact")
}

// codes names the reasons of a verdict.
func codes(v *report.Verdict) string {
	var c []string
	for _, r := range v.Reasons {
		c = append(c, r.Code)
	}
	return strings.Join(c, ", ")
}

// reason returns the reason with that code; nil when there is none.
func reason(v *report.Verdict, code string) *report.Reason {
	for i := range v.Reasons {
		if v.Reasons[i].Code == code {
			return &v.Reasons[i]
		}
	}
	return nil
}

// verdict holds when the verdict is the one wanted.
func (s *sheet) verdict(v *report.Verdict, want string) {
	got := v.Status
	if len(v.Reasons) > 0 {
		got += " (" + codes(v) + ")"
	}
	s.put(v.Status == want, "verdict", got, want)
}

// ms returns a percentile in milliseconds, and -1 where it is null: no limit
// of this program takes that.
func ms(seconds *float64) float64 {
	if seconds == nil {
		return -1
	}
	return 1e3 * *seconds
}
