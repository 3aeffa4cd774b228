package sampler

import (
	"fmt"
	"time"
)

// Status is the verdict in one word.
type Status uint8

// The verdicts, from good to bad.
const (
	Valid    Status = iota
	Degraded        // believe it with the named reservation
	Invalid         // the generator, not the server, made these numbers
)

// String returns "valid", "degraded" or "invalid".
func (s Status) String() string { return [...]string{"valid", "degraded", "invalid"}[s] }

// A Reason says what is wrong: the number, its limit, and what to do.
type Reason struct {
	Code    string
	Message string
	Status  Status // what this reason alone makes of the run
	Value   float64
	Limit   float64
}

// A Verdict says whether a run may be believed.
type Verdict struct {
	Status  Status
	Reasons []Reason
}

func (v *Verdict) add(s Status, code string, value, limit float64, format string, args ...any) {
	v.Status = max(v.Status, s)
	v.Reasons = append(v.Reasons, Reason{code, fmt.Sprintf(format, args...), s, value, limit})
}

// block is the interval over which the started share is watched.
const block = 5 * time.Second

// Judge returns the verdict on the whole run and one on each stream. In a
// closed model arrivals cannot be late and a busy loop only degrades.
func (r *Result) Judge(closed bool) (Verdict, []Verdict) {
	all := r.judge(&r.All, -1, closed)
	var each []Verdict
	for i := range r.Streams {
		each = append(each, r.judge(&r.Streams[i], i, closed))
	}
	return all, each
}

func (r *Result) judge(t *Totals, stream int, closed bool) Verdict {
	var v Verdict
	for _, m := range append(t.Check(), t.Warmup.Check()...) {
		v.add(Invalid, "accounting", 1, 0, "the counts do not add up (%s): this is a bug, please report it", m)
	}
	if !closed {
		judgeLag(&v, t)
		r.judgeStarted(&v, t, stream)
	}
	judgeRefused(&v, t)
	judgeBusy(&v, r.Busy, closed)
	return v
}

func judgeLag(v *Verdict, t *Totals) {
	const advice = "give the generator a core of its own, more --workers, or a lower rate"
	l := t.Times.Lag.Quantile(.99)
	name := "lag p99"
	if n := t.Times.Lag.Count(); n < 381 {
		name = fmt.Sprintf("lag p99 (of only %d arrivals)", n)
	}
	// Without replies there is nothing to compare with: the absolute limits count alone.
	share, of := 1., ""
	if t.Times.Latency.Count() > 0 {
		share = float64(l) / max(1, float64(t.Times.Latency.Quantile(.99)))
		of = fmt.Sprintf(" and %.0f %% of the latency p99", 100*share)
	}
	switch {
	case l > 100*time.Millisecond:
		v.add(Invalid, "lag", l.Seconds(), .1, "%s %s is above 100 ms: arrivals started late by the generator's own fault; %s", name, ms(l), advice)
	case l > 5*time.Millisecond && share > .5:
		v.add(Invalid, "lag", l.Seconds(), .005, "%s %s is above 5 ms%s: the latencies are the generator's; %s", name, ms(l), of, advice)
	case l > 500*time.Microsecond && share > .25:
		v.add(Degraded, "lag", l.Seconds(), .0005, "%s %s is above 0.5 ms%s: part of the latency is the generator's; %s", name, ms(l), of, advice)
	}
	if t.Started == 0 {
		return
	}
	judgeBehind(v, t)
	punctual := 1 - float64(t.StartedLate)/float64(t.Started)
	switch {
	case punctual < .95:
		v.add(Invalid, "punctuality", punctual, .95, "only %.2f %% of the arrivals were taken within 1 ms and one period of their intended start (want 95 %%); %s", 100*punctual, advice)
	case punctual < .99:
		v.add(Degraded, "punctuality", punctual, .99, "%.2f %% of the arrivals were taken within 1 ms and one period of their intended start (want 99 %%); %s", 100*punctual, advice)
	}
}

// judgeBehind looks at arrivals of one instant: the schedule wants them at once, and
// one thread opens their connections one by one.
func judgeBehind(v *Verdict, t *Totals) {
	const advice = "their latency has the generator's own queue in it; spread them (a log: --spread), or use more --workers"
	share := float64(t.Behind) / float64(t.Started)
	switch {
	case share > .05:
		v.add(Invalid, "behind", share, .05, "%.2f %% of the arrivals stood behind others of the same instant for more than 10 ms before they were started (want at most 5 %%); %s", 100*share, advice)
	case share > .01:
		v.add(Degraded, "behind", share, .01, "%.2f %% of the arrivals stood behind others of the same instant for more than 10 ms before they were started (want at most 1 %%); %s", 100*share, advice)
	}
}

func (r *Result) judgeStarted(v *Verdict, t *Totals, stream int) {
	if t.Scheduled == 0 {
		return
	}
	const advice = "the schedule was not carried out: lower the rate or use more generators; the causes are listed under shed"
	if worst, at, length := r.worstBlock(stream); worst < .99 {
		v.add(Invalid, "started", worst, .99, "only %.2f %% of the arrivals intended in the %v from %v on were started (want 99 %%); %s", 100*worst, length, at, advice)
		return
	}
	if share := float64(t.Started) / float64(t.Scheduled); share < .999 {
		v.add(Degraded, "started", share, .999, "%.2f %% of the scheduled arrivals were started (want 99.9 %%); %s", 100*share, advice)
	}
}

// worstBlock returns the smallest share of arrivals started among those
// intended in any 5 s, and where that block begins and how long it is. Blocks
// end with the schedule: the drain would leave some with a handful of arrivals.
// A shorter schedule is one block.
func (r *Result) worstBlock(stream int) (share float64, at, length time.Duration) {
	pick := func(i int) *Window {
		if stream >= 0 && len(r.Windows[i].Streams) > 0 {
			return &r.Windows[i].Streams[stream]
		}
		return &r.Windows[i].All
	}
	first, end := 0, len(r.Windows)
	for first < end && pick(first).Warmup() {
		first++
	}
	for end > first && pick(end-1).Scheduled == 0 {
		end--
	}
	n := min(max(1, int(block/r.Base)), end-first)
	share = 1
	var scheduled, shed uint64
	for i := first; i < end; i++ {
		w := pick(i)
		scheduled += w.Scheduled
		shed += sum(w.Shed[:])
		begin := i - n + 1
		if begin < first {
			continue
		}
		old := pick(begin)
		if s := 1 - float64(shed)/float64(max(1, scheduled)); s < share {
			share, at, length = s, old.Start, w.Start+w.Length-old.Start
		}
		scheduled -= old.Scheduled
		shed -= sum(old.Shed[:])
	}
	return share, at, length
}

func judgeRefused(v *Verdict, t *Totals) {
	var all uint64
	causes := []struct {
		n            uint64
		code, advice string
	}{
		{t.Outcomes[FDUnavailable], "fd_unavailable", "raise the descriptor limit (ulimit -n) or shorten the timeout"},
		{t.Outcomes[FileTableFull], "file_table_full", "raise fs.file-max"},
		{t.Outcomes[AddressUnavailable], "address_unavailable", "local ports ran out: add source addresses (--myaddr), use --close-mode rst, or widen net.ipv4.ip_local_port_range"},
		{t.Shed[ShedInflight], "inflight", "the bound of arrivals in flight was reached: raise --max-inflight (and ulimit -n), or shorten the timeout"},
	}
	for _, c := range causes {
		all += c.n
	}
	// The limit holds for all of them together.
	status, limit := Degraded, 0.
	if float64(all)/float64(max(1, t.Scheduled)) > .001 {
		status, limit = Invalid, .001
	}
	for _, c := range causes {
		if c.n == 0 {
			continue
		}
		share := float64(c.n) / float64(max(1, t.Scheduled))
		v.add(status, c.code, share, limit, "%d arrivals (%.3g %%) were refused by the generator's own limits, which refused %d in all (want none, at most 0.1 %%); %s", c.n, 100*share, all, c.advice)
	}
}

func judgeBusy(v *Verdict, busy float64, closed bool) {
	const advice = "the generator is close to its own limit: use more --workers or more machines"
	switch {
	case busy > .95 && !closed:
		v.add(Invalid, "cpu", busy, .95, "a loop's thread worked %.0f %% of a core (limit 95 %%); %s", 100*busy, advice)
	case busy > .80:
		v.add(Degraded, "cpu", busy, .80, "a loop's thread worked %.0f %% of a core (limit 80 %%); %s", 100*busy, advice)
	}
}

func ms(d time.Duration) string { return fmt.Sprintf("%.3g ms", d.Seconds()*1e3) }
