package prom

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"httpgen/sampler"
)

// An add puts one metric of a family out: its value, and those labels that
// follow the ones which every metric of the kind has.
type add func(value float64, labels ...string)

// A family is all metrics of one name. What they are made of is a *total, a
// *level or a *state.
type family[T any] struct {
	desc *prometheus.Desc
	each func(from T, add add)
}

// describe returns the Desc of a family of metrics.
func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("httpgen_"+name, help, labels, nil)
}

// ofPair returns the labels of a family whose metrics belong to a pair.
func ofPair(labels ...string) []string { return append([]string{"client", "target"}, labels...) }

// count returns a family with one counter a pair.
func count(name, help string, value func(t *total) uint64) family[*total] {
	return family[*total]{describe(name, help, ofPair()...), func(t *total, add add) { add(float64(value(t))) }}
}

// A part is one value of the label that divides a family of counters.
type part struct {
	value string
	count func(t *total) uint64
}

// divided returns a family with one counter for each part of a pair.
func divided(name, help, label string, parts ...part) family[*total] {
	return family[*total]{describe(name, help, ofPair(label)...), func(t *total, add add) {
		for _, p := range parts {
			add(float64(p.count(t)), p.value)
		}
	}}
}

// counters are the counters of a pair but for the replies, whose codes are
// bounded.
var counters = []family[*total]{
	count("arrivals_scheduled_total", "Arrivals whose intended start has come.", func(t *total) uint64 { return t.Scheduled }),
	count("arrivals_started_total", "Arrivals started.", func(t *total) uint64 { return t.Started }),
	count("arrivals_started_late_total", "Arrivals taken more than 1 ms and one period after their intended start.", func(t *total) uint64 { return t.StartedLate }),
	{describe("arrivals_shed_total", "Arrivals that were due and deliberately not started, by cause.", ofPair("cause")...), func(t *total, add add) {
		for c, n := range t.Shed {
			add(float64(n), sampler.Cause(c).String())
		}
	}},
	count("arrivals_completed_total", "Arrivals that ended well.", func(t *total) uint64 { return t.Completed() }),
	{describe("errors_total", "Arrivals that ended otherwise, by reason.", ofPair("reason")...), func(t *total, add add) {
		for c := sampler.OK + 1; c < sampler.NumClasses; c++ {
			add(float64(t.Outcomes[c]), c.String())
		}
	}},
	count("deadline_misses_total", "Arrivals that were not complete within the deadline, which are errors too.", func(t *total) uint64 { return t.Outcomes[sampler.Deadline] }),
	count("arrivals_unfinished_total", "Arrivals still open when the drain ended.", func(t *total) uint64 { return t.Unfinished }),
	count("goodput_total", "Complete replies in time, and with an expected status where one was asked for.", func(t *total) uint64 { return t.good }),
	count("calls_planned_total", "Calls of arrivals that have ended.", func(t *total) uint64 { return t.Planned }),
	divided("calls_total", "Calls of arrivals that have ended, by what came of them.", "outcome",
		part{"replied", func(t *total) uint64 { return t.Replied }},
		part{"unanswered", func(t *total) uint64 { return t.Unanswered }},
		part{"unsent", func(t *total) uint64 { return t.Unsent }},
		part{"unfinished", func(t *total) uint64 { return t.UnfinishedCalls }}),
	count("lost_calls_total", "Calls that ended arrivals could not make or got no reply to.", func(t *total) uint64 { return t.LostCalls }),
	count("retries_total", "Further tries: the next address of a name, or a retry that was asked for.", func(t *total) uint64 { return t.Retries }),
	count("connections_attempted_total", "Connections begun.", func(t *total) uint64 { return t.Attempted }),
	count("connections_established_total", "Connections established.", func(t *total) uint64 { return t.Established }),
	count("connections_failed_total", "Connections that ended before they were established.", func(t *total) uint64 { return t.Failed }),
	count("session_connections_total", "Connections established for sessions that ended well.", func(t *total) uint64 { return t.SessionConns }),
	count("requests_total", "Requests whose last byte the kernel took.", func(t *total) uint64 { return t.Requests }),
	count("interim_replies_total", "Replies of status 1xx before a final one.", func(t *total) uint64 { return t.Interim }),
	count("sent_bytes_total", "Bytes that the kernel took.", func(t *total) uint64 { return t.SentBytes }),
	count("received_bytes_total", "Bytes read.", func(t *total) uint64 { return t.ReceivedBytes }),
	count("request_bytes_total", "Bytes of completely sent requests.", func(t *total) uint64 { return t.RequestBytes }),
	divided("reply_bytes_total", "Bytes of complete replies, by what they are.", "part",
		part{"header", func(t *total) uint64 { return t.HeaderBytes }},
		part{"body", func(t *total) uint64 { return t.BodyBytes }},
		part{"trailer", func(t *total) uint64 { return t.TrailerBytes }},
		part{"framing", func(t *total) uint64 { return t.FramingBytes }}),
}

// repliesDesc is of the counters of replies.
var repliesDesc = describe("replies_total", "Complete replies, by status code.", ofPair("code")...)

// numTimes is how many distributions of times are shown.
const numTimes = len(timings)

// timings are the histograms of a pair.
var timings = [...]struct {
	desc  *prometheus.Desc
	first int // classic bucket
	of    func(t *sampler.Times) *sampler.Dist
}{
	{describe("latency_seconds", "Time from the intended start of a call to the end of its reply.", ofPair()...), from20us, func(t *sampler.Times) *sampler.Dist { return &t.Latency }},
	{describe("service_seconds", "Time from the actual start of a call to the end of its reply.", ofPair()...), from20us, func(t *sampler.Times) *sampler.Dist { return &t.Service }},
	{describe("lag_seconds", "Time from the intended start of an arrival until a loop took it: the generator's own fault.", ofPair()...), from5us, func(t *sampler.Times) *sampler.Dist { return &t.Lag }},
	{describe("wait_seconds", "Time for which an arrival waited for a free connection of a pool.", ofPair()...), from5us, func(t *sampler.Times) *sampler.Dist { return &t.Wait }},
	{describe("connect_seconds", "Time to establish a connection, without TLS.", ofPair()...), from5us, func(t *sampler.Times) *sampler.Dist { return &t.Connect }},
	{describe("tls_seconds", "Time of a TLS handshake.", ofPair()...), from20us, func(t *sampler.Times) *sampler.Dist { return &t.TLS }},
	{describe("first_byte_seconds", "Time from the last byte of a request to the first of its reply.", ofPair()...), from20us, func(t *sampler.Times) *sampler.Dist { return &t.FirstByte }},
	{describe("transfer_seconds", "Time from the first byte of a reply to its last.", ofPair()...), from5us, func(t *sampler.Times) *sampler.Dist { return &t.Transfer }},
	{describe("lifetime_seconds", "Time for which a connection with a reply was open.", ofPair()...), from20us, func(t *sampler.Times) *sampler.Dist { return &t.Lifetime }},
	{describe("session_seconds", "Time from the start of a session that ended well to its end.", ofPair()...), from20us, func(t *sampler.Times) *sampler.Dist { return &t.Session }},
	{describe("failure_seconds", "Time from the start of an arrival to the error that ended it.", ofPair()...), from20us, func(t *sampler.Times) *sampler.Dist { return &t.Failure }},
}

// levels are the gauges of a pair.
var levels = []family[*level]{
	{describe("inflight", "Arrivals open.", ofPair()...), func(l *level, add add) { add(float64(l.inflight)) }},
	{describe("connections", "Connections open, by state.", ofPair("state")...), func(l *level, add add) {
		add(float64(l.connecting), "connecting")
		add(float64(l.connected), "established")
	}},
	{describe("target_rate", "Arrivals per second that the schedule asks for, 0 while it asks for none.", ofPair()...), func(l *level, add add) { add(l.rate) }},
	{describe("client_weight", "Configured share of a client, 0 if the newest run does not have it.", ofPair()...), func(l *level, add add) { add(l.weight) }},
	{describe("client_verdict", "Whether the client's part of the newest run may be believed: 1 for the verdict, 0 for the others.", ofPair("status")...), func(l *level, add add) {
		judge(l.verdict, l.current, add)
	}},
}

// A state is what is shown beside the pairs.
type state struct {
	*Collector
	phase phase
}

// states are the metrics beside those of pairs; all but the overflow are gauges.
var states = []family[state]{
	{describe("build_info", "What the program was built of.", "version", "revision", "goversion", "goos", "goarch"), func(s state, add add) { add(1, s.build...) }},
	{describe("run_info", "Identity of the newest run.", "run_id", "model", "process", "engine"), func(s state, add add) {
		if s.run == nil {
			return
		}
		model := "open"
		if s.run.info.Closed {
			model = "closed"
		}
		add(1, s.run.info.ID, model, s.run.info.Process, s.run.info.Engine)
	}},
	{describe("run_start_timestamp_seconds", "Unix time at which the newest run started, 0 before."), func(s state, add add) {
		add(s.instant(func(r *Run) time.Time { return r.begin }))
	}},
	{describe("run_end_timestamp_seconds", "Unix time at which the newest run ended, 0 before."), func(s state, add add) {
		add(s.instant(func(r *Run) time.Time { return r.end }))
	}},
	{describe("run_planned_duration_seconds", "Time from the start of the newest run to its last planned arrival, 0 if it is not known."), func(s state, add add) {
		add(s.about(func(i *Info) float64 { return i.Planned.Seconds() }))
	}},
	{describe("run_phase", "1 for the phase the newest run is in, 0 for the others.", "phase"), func(s state, add add) {
		for _, p := range phases {
			add(truth(p.phase == s.phase), p.name)
		}
	}},
	{describe("verdict", "Whether the newest run may be believed: 1 for the verdict, 0 for the others.", "status"), func(s state, add add) {
		judge(s.process.verdict, s.run != nil, add)
	}},
	{describe("trial_info", "Which trial of an experiment the newest run is.", "experiment", "arm", "rung", "trial"), func(s state, add add) {
		if s.trial != nil {
			add(1, s.trial...)
		}
	}},
	{describe("inflight_limit", "Bound of arrivals in flight, 0 for none."), func(s state, add add) {
		add(s.about(func(i *Info) float64 { return float64(i.MaxInflight) }))
	}},
	{describe("loops", "Event loops that drive connections."), func(s state, add add) { add(float64(s.process.loops)) }},
	{describe("busy_ratio", "Share of a core that the busiest loop worked."), func(s state, add add) { add(s.process.busy) }},
	{describe("connections_peak", "Most connections open at once in the newest run."), func(s state, add add) { add(float64(s.process.peakOpen)) }},
	{describe("connect_burst_peak", "Most connections opened in one pass of a loop in the newest run."), func(s state, add add) { add(float64(s.process.maxBurst)) }},
}

// overflowDesc is of the counters of folded label values.
var overflowDesc = describe("label_overflow_total", "Label values counted under \"other\"; a client and its target anew with each run.", "label")

// judge puts out all verdicts: the one that holds, if any does, as 1.
func judge(status sampler.Status, holds bool, add add) {
	for s := sampler.Valid; s <= sampler.Invalid; s++ {
		add(truth(holds && s == status), s.String())
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// instant returns an instant of the newest run as a Unix time, 0 for none.
func (c *Collector) instant(of func(r *Run) time.Time) float64 {
	if c.run == nil || of(c.run).IsZero() {
		return 0
	}
	return float64(of(c.run).UnixNano()) / 1e9
}

// about returns what the newest run was described with, 0 for none.
func (c *Collector) about(of func(i *Info) float64) float64 {
	if c.run == nil {
		return 0
	}
	return of(&c.run.info)
}
