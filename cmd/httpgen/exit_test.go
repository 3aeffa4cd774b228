package main

import (
	"os"
	"syscall"
	"testing"

	"httpgen/internal/report"
)

func TestResultCode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		started uint64
		replies uint64
		verdict string
		warm    uint64 // replies during the warm-up
		s       os.Signal
		want    int
	}{
		{name: "ok", started: 5, replies: 5, verdict: report.Valid, want: 0},
		{name: "degraded", started: 5, replies: 1, verdict: report.Degraded, want: 0},
		{name: "silent", started: 5, verdict: report.Valid, want: 3},
		{name: "nothing started", verdict: report.Valid, want: 0},
		{name: "silent after the warm-up", started: 5, verdict: report.Valid, warm: 5, want: 0},
		{name: "invalid", started: 5, replies: 5, verdict: report.Invalid, want: 4},
		{name: "invalid and silent", started: 5, verdict: report.Invalid, want: 4},
		{name: "interrupted", started: 5, replies: 5, verdict: report.Valid, s: os.Interrupt, want: 130},
		{name: "terminated, invalid", started: 5, verdict: report.Invalid, s: syscall.SIGTERM, want: 143},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := &report.Result{Verdict: report.Verdict{Status: tt.verdict}}
			r.Totals.Arrivals.Started, r.Totals.Replies = tt.started, tt.replies
			if tt.warm > 0 {
				r.Warmup = &report.Totals{Replies: tt.warm}
			}
			if have := resultCode(r, tt.s); have != tt.want {
				t.Errorf("have %d, want %d", have, tt.want)
			}
		})
	}
}
