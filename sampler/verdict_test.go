package sampler

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A trial builds the result of a run of windows with equally many arrivals.
type trial struct {
	Result
	perWindow uint64
}

// newTrial returns a valid run: n windows with perWindow arrivals each, lag
// 1 us, latency 10 ms.
func newTrial(n int, base time.Duration, perWindow uint64) *trial {
	r := &trial{perWindow: perWindow}
	r.Base = base
	for i := range n {
		r.Windows = append(r.Windows, WindowSet{All: Window{
			Index: i, Start: time.Duration(i) * base, Length: base, Scheduled: perWindow, Started: perWindow,
		}})
	}
	t := &r.All
	t.Scheduled = uint64(n) * perWindow
	t.Started, t.Planned, t.Replied, t.Replies = t.Scheduled, t.Scheduled, t.Scheduled, t.Scheduled
	t.Outcomes[OK], t.Codes[200] = t.Scheduled, t.Scheduled
	t.Times.Lag.Add(micro)
	t.Times.Latency.Add(10 * milli)
	return r
}

// shed takes arrivals of a window away.
func (r *trial) shed(window int, n uint64, cause Cause) *trial {
	t := &r.All
	r.Windows[window].All.Shed[cause] += n
	t.Shed[cause] += n
	t.Started -= n
	t.Planned -= n
	t.Outcomes[OK] -= n
	r.reply(n)
	return r
}

// reply takes replies away.
func (r *trial) reply(n uint64) {
	r.All.Replied -= n
	r.All.Replies -= n
	r.All.Codes[200] -= n
}

// fail makes errors of completed arrivals.
func (r *trial) fail(n uint64, class Class) *trial {
	r.All.Outcomes[OK] -= n
	r.All.Outcomes[class] += n
	r.All.Unanswered += n
	r.reply(n)
	return r
}

// lag sets the lag and the latency of all arrivals.
func (r *trial) lag(lag, latency time.Duration) *trial {
	r.All.Times.Lag, r.All.Times.Latency = *distOf(lag), *distOf(latency)
	return r
}

// mute takes all replies away.
func (r *trial) mute() *trial {
	r.All.Times.Latency = Dist{}
	return r.fail(r.All.Outcomes[OK], ReplyTimeout)
}

func (r *trial) late(n uint64) *trial {
	r.All.StartedLate = n
	return r
}

func (r *trial) busy(share float64) *trial {
	r.Busy = share
	return r
}

func (r *trial) with(change func(r *trial)) *trial {
	change(r)
	return r
}

func usual() *trial { return newTrial(10, time.Second, 1000) }

func TestJudge(t *testing.T) {
	t.Parallel()
	const limit = 500 * micro
	for _, tt := range []struct {
		name    string
		r       *trial
		open    string // status and codes
		closed  string
		message string // part of the first one
	}{
		{"nothing wrong", usual(), "valid", "valid", ""},
		{"nothing at all", newTrial(0, time.Second, 0), "valid", "valid", ""},

		// Lag, degraded: > 500 us and > 25 % of the latency p99.
		{"lag at 500 us", usual().lag(limit, milli), "valid", "valid", ""},
		{"lag just above 500 us", usual().lag(limit+1, milli), "degraded lag", "valid", "lag p99 (of only 1 arrivals) 0.5 ms is above 0.5 ms and 50 % of the latency p99"},
		{"lag above 500 us, at 25 %", usual().lag(milli, 4*milli), "valid", "valid", ""},
		{"lag above 500 us, just above 25 %", usual().lag(milli+1, 4*milli), "degraded lag", "valid", "25 % of the latency"},
		{"lag just below 500 us, all of the latency", usual().lag(limit-1, limit), "valid", "valid", ""},
		// Lag, invalid: > 5 ms and > 50 % of the latency p99.
		{"lag at 5 ms, all of the latency", usual().lag(5*milli, 5*milli), "degraded lag", "valid", ""},
		{"lag just above 5 ms, all of the latency", usual().lag(5*milli+1, 5*milli+1), "invalid lag", "valid", "above 5 ms and 100 %"},
		{"lag above 5 ms, at 50 %", usual().lag(6*milli, 12*milli), "degraded lag", "valid", ""},
		{"lag above 5 ms, just above 50 %", usual().lag(6*milli+1, 12*milli), "invalid lag", "valid", ""},
		{"lag above 5 ms, just below 25 %", usual().lag(6*milli-1, 24*milli), "valid", "valid", ""},
		// Lag, invalid: > 100 ms.
		{"lag at 100 ms, little of the latency", usual().lag(100*milli, 10*time.Second), "valid", "valid", ""},
		{"lag just above 100 ms, little of the latency", usual().lag(100*milli+1, 10*time.Second), "invalid lag", "valid", "above 100 ms:"},
		// Without replies the absolute limits alone count.
		{"no replies, lag at 500 us", usual().lag(limit, 0).mute(), "valid", "valid", ""},
		{"no replies, lag just above 500 us", usual().lag(limit+1, 0).mute(), "degraded lag", "valid", "lag p99 (of only 1 arrivals) 0.5 ms is above 0.5 ms: part"},
		{"no replies, lag at 5 ms", usual().lag(5*milli, 0).mute(), "degraded lag", "valid", ""},
		{"no replies, lag just above 5 ms", usual().lag(5*milli+1, 0).mute(), "invalid lag", "valid", "is above 5 ms: the"},
		{"no replies, lag just above 100 ms", usual().lag(100*milli+1, 0).mute(), "invalid lag", "valid", "above 100 ms:"},

		// Taken within 1 ms and one period.
		{"99 % punctual", usual().late(100), "valid", "valid", ""},
		{"just below 99 % punctual", usual().late(101), "degraded punctuality", "valid", "98.99 %"},
		{"95 % punctual", usual().late(500), "degraded punctuality", "valid", ""},
		{"just below 95 % punctual", usual().late(501), "invalid punctuality", "valid", "only 94.99 %"},

		// Behind others of the same instant.
		{"1 % behind", usual().with(func(r *trial) { r.All.Behind = 100 }), "valid", "valid", ""},
		{"just above 1 % behind", usual().with(func(r *trial) { r.All.Behind = 101 }), "degraded behind", "valid", "1.01 % of the arrivals stood behind"},
		{"just above 5 % behind", usual().with(func(r *trial) { r.All.Behind = 501 }), "invalid behind", "valid", "5.01 %"},

		// Started / scheduled.
		{"99.9 % started", usual().shed(0, 5, ShedLate).shed(9, 5, ShedLate), "valid", "valid", ""},
		{"just below 99.9 % started", usual().shed(0, 5, ShedLate).shed(9, 6, ShedBacklog), "degraded started", "valid", "99.89 %"},
		{"99 % started of 5 s", usual().shed(4, 50, ShedLate), "degraded started", "valid", ""},
		{"just below 99 % started of 5 s", usual().shed(4, 51, ShedLate), "invalid started", "valid", "only 98.98 % of the arrivals intended in the 5s from 0s on"},
		{"just below 99 % started of the last 5 s", usual().shed(9, 51, ShedLate), "invalid started", "valid", "in the 5s from 5s on"},
		{"99 % started, in parts of 5 s", usual().shed(0, 50, ShedLate).shed(5, 50, ShedStopped), "degraded started", "valid", ""},

		// Refused by our own limits.
		{"one without descriptor", usual().fail(1, FDUnavailable), "degraded fd_unavailable", "degraded fd_unavailable", "ulimit -n"},
		{"0.1 % without descriptor", usual().fail(10, FDUnavailable), "degraded fd_unavailable", "degraded fd_unavailable", ""},
		{"just above 0.1 % without descriptor", usual().fail(11, FDUnavailable), "invalid fd_unavailable", "invalid fd_unavailable", "11 arrivals (0.11 %)"},
		{"one with a full file table", usual().fail(1, FileTableFull), "degraded file_table_full", "degraded file_table_full", "fs.file-max"},
		{"0.1 % with a full file table", usual().fail(10, FileTableFull), "degraded file_table_full", "degraded file_table_full", ""},
		{"just above 0.1 % with a full file table", usual().fail(11, FileTableFull), "invalid file_table_full", "invalid file_table_full", ""},
		{"one without port", usual().fail(1, AddressUnavailable), "degraded address_unavailable", "degraded address_unavailable", "--myaddr"},
		{"0.1 % without port", usual().fail(10, AddressUnavailable), "degraded address_unavailable", "degraded address_unavailable", ""},
		{"just above 0.1 % without port", usual().fail(11, AddressUnavailable), "invalid address_unavailable", "invalid address_unavailable", ""},
		{"one above the bound", usual().shed(0, 1, ShedInflight), "degraded inflight", "degraded inflight", "--max-inflight"},
		{"0.1 % above the bound", usual().shed(0, 10, ShedInflight), "degraded inflight", "degraded inflight", ""},
		{"just above 0.1 % above the bound", usual().shed(0, 11, ShedInflight), "invalid started inflight", "invalid inflight", ""},
		{"0.1 % by two limits", usual().fail(5, FDUnavailable).shed(0, 5, ShedInflight), "degraded fd_unavailable inflight", "degraded fd_unavailable inflight", ""},
		{"just above 0.1 % by two limits", usual().fail(6, FDUnavailable).shed(0, 5, ShedInflight), "invalid fd_unavailable inflight", "invalid fd_unavailable inflight", "6 arrivals (0.06 %) were refused by the generator's own limits, which refused 11 in all"},
		{"the server's failures", usual().fail(5000, ConnectRefused), "valid", "valid", ""},

		// Processor.
		{"80 % busy", usual().busy(.8), "valid", "valid", ""},
		{"just above 80 % busy", usual().busy(.801), "degraded cpu", "degraded cpu", "worked 80 % of a core"},
		{"95 % busy", usual().busy(.95), "degraded cpu", "degraded cpu", ""},
		{"just above 95 % busy", usual().busy(.951), "invalid cpu", "degraded cpu", "worked 95 % of a core"},

		// Accounting.
		{"one arrival lost", usual().with(func(r *trial) { r.All.Outcomes[OK]-- }), "invalid accounting", "invalid accounting", "started = completed + errors + unfinished"},
		{"one arrival of the warm-up lost", usual().with(func(r *trial) { r.All.Warmup.Scheduled++ }), "invalid accounting", "invalid accounting", "scheduled = started + shed"},

		{"the worst counts", usual().busy(.9).late(501).lag(limit+1, milli), "invalid lag punctuality cpu", "degraded cpu", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for closed, want := range map[bool]string{false: tt.open, true: tt.closed} {
				v, _ := tt.r.Judge(closed)
				if got := brief(&v); got != want {
					t.Errorf("closed %v: got %q, want %q (%+v)", closed, got, want, v.Reasons)
				}
				if tt.message != "" && len(v.Reasons) > 0 && !strings.Contains(v.Reasons[0].Message, tt.message) {
					t.Errorf("closed %v: the first reason is %q, want one with %q", closed, v.Reasons[0].Message, tt.message)
				}
			}
		})
	}
}

// brief is a verdict's status with the codes of its reasons.
func brief(v *Verdict) string {
	s := v.Status.String()
	worst := Valid
	for _, r := range v.Reasons {
		s += " " + r.Code
		worst = max(worst, r.Status)
	}
	if worst != v.Status {
		s += fmt.Sprintf(" (the worst reason says %v)", worst)
	}
	return s
}

func TestJudgeNamesNumberAndLimit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		r            *trial
		value, limit float64
	}{
		{usual().lag(milli, milli), .001, .0005},
		{usual().lag(10*milli, 10*milli), .01, .005},
		{usual().lag(time.Second, 10*milli), 1, .1},
		{usual().late(200), .98, .99},
		{usual().late(1000), .9, .95},
		{usual().shed(0, 20, ShedLate), .998, .999},
		{usual().shed(0, 500, ShedLate), .9, .99},
		{usual().fail(5, FDUnavailable), .0005, 0},
		{usual().fail(50, FDUnavailable), .005, .001},
		{usual().busy(.9), .9, .8},
		{usual().busy(.99), .99, .95},
	} {
		v, _ := tt.r.Judge(false)
		if len(v.Reasons) != 1 {
			t.Fatalf("got %d reasons, want 1: %+v", len(v.Reasons), v.Reasons)
		}
		r := v.Reasons[0]
		if !nearly(r.Value, tt.value) || r.Limit != tt.limit {
			t.Errorf("%s: value %v and limit %v, want %v and %v", r.Message, r.Value, r.Limit, tt.value, tt.limit)
		}
	}
}

func TestJudgeStreams(t *testing.T) {
	t.Parallel()
	r := newTrial(10, time.Second, 1000)
	// Two streams: the second one was shed 5 % of its arrivals in one second.
	good, bad := newTrial(10, time.Second, 900), newTrial(10, time.Second, 100).shed(3, 50, ShedLate)
	for i := range r.Windows {
		r.Windows[i].Streams = []Window{good.Windows[i].All, bad.Windows[i].All}
	}
	r.shed(3, 50, ShedLate)
	r.Streams = []Totals{good.All, bad.All}
	all, each := r.Judge(false)
	got := []string{brief(&all)}
	for i := range each {
		got = append(got, brief(&each[i]))
	}
	// The whole run lost 50 of 5000 in the worst 5 s, exactly 1 %.
	if want := []string{"degraded started", "valid", "invalid started"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWorstBlock(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		r      *trial
		share  float64
		at     time.Duration
		length time.Duration
	}{
		{"no windows", newTrial(0, time.Second, 0), 1, 0, 0},
		{"nothing scheduled", newTrial(10, time.Second, 0), 1, 0, 0},
		{"nothing shed", usual(), 1, 0, 0},
		{"shorter than a block", newTrial(3, time.Second, 100).shed(1, 30, ShedLate), .9, 0, 3 * time.Second},
		{"exactly a block", newTrial(5, time.Second, 100).shed(4, 50, ShedLate), .9, 0, 5 * time.Second},
		{"first of two blocks", newTrial(6, time.Second, 100).shed(0, 50, ShedLate), .9, 0, 5 * time.Second},
		{"second of two blocks", newTrial(6, time.Second, 100).shed(5, 50, ShedLate), .9, time.Second, 5 * time.Second},
		{"short base interval", newTrial(90, 100*milli, 10).shed(70, 5, ShedLate).shed(85, 5, ShedLate), .98, 3600 * milli, 5 * time.Second},
		{"base interval above a block", newTrial(3, 7*time.Second, 100).shed(1, 50, ShedLate), .5, 7 * time.Second, 7 * time.Second},
		{"one short window", newTrial(1, 100*milli, 10).shed(0, 1, ShedLate), .9, 0, 100 * milli},
		// Without its last 4 windows the run ends with a block of its last 5 s.
		{"drain", newTrial(14, time.Second, 100).shed(9, 50, ShedLate).with(func(r *trial) {
			for i := 10; i < 14; i++ {
				r.Windows[i].All.Scheduled = 0
			}
		}), .9, 5 * time.Second, 5 * time.Second},
		{"warm-up", newTrial(8, time.Second, 100).shed(1, 90, ShedLate).shed(2, 50, ShedLate).with(func(r *trial) {
			for i := range r.Windows {
				r.Windows[i].All.Index = i - 2
			}
		}), .9, 2 * time.Second, 5 * time.Second},
		{"gap in the schedule", newTrial(20, time.Second, 100).shed(10, 30, ShedLate).with(func(r *trial) {
			for i := 5; i < 10; i++ {
				r.Windows[i].All.Scheduled = 0
			}
		}), .7, 6 * time.Second, 5 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			share, at, length := tt.r.worstBlock(-1)
			if !nearly(share, tt.share) || at != tt.at || length != tt.length {
				t.Errorf("got %v of the %v from %v on, want %v of %v from %v on", share, length, at, tt.share, tt.length, tt.at)
			}
		})
	}
}

func TestStatusString(t *testing.T) {
	t.Parallel()
	for s, want := range map[Status]string{Valid: "valid", Degraded: "degraded", Invalid: "invalid"} {
		if got := s.String(); got != want {
			t.Errorf("Status(%d) = %q, want %q", s, got, want)
		}
	}
}
