package run

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"httpgen/client"
	"httpgen/internal/report"
	"httpgen/sampler"
)

// result fills the model from what the client and the sampler found.
func (r *Run) result(c *client.Result) *report.Result {
	o := r.o
	all, each := r.judge(c)
	res := &report.Result{
		Schema: report.ResultSchema,
		Tool:   report.Tool{Name: "httpgen", Version: Version, Go: runtime.Version(), OS: runtime.GOOS, Kernel: kernel(), CPUs: runtime.NumCPU()},
		Run: report.Run{
			ID: r.id, Argv: report.Redact(o.Argv), Echo: r.echo(), StartedAt: c.Started.UTC(), EpochUnixNanos: c.Started.UnixNano(),
			StopReason: r.stopReason(c), Complete: !c.Stopped && !c.Stalled && r.broken() == nil,
			SendingSeconds: (c.Sending - o.Warmup).Seconds(), TotalSeconds: (c.Total - o.Warmup).Seconds(),
		},
		Config:  r.config(c),
		Model:   report.Open,
		Verdict: verdict(&all, r.broken()),
		CPU:     report.CPU{UserSeconds: c.User.Seconds(), SystemSeconds: c.System.Seconds()},
	}
	if r.isClosed() {
		res.Model = report.Closed
	}
	if r.plannedEnd > 0 {
		res.Run.PlannedSeconds = new((r.plannedEnd - o.Warmup).Seconds())
	}
	res.Totals = totals(&c.All.Tally)
	if o.Warmup > 0 {
		res.Warmup = new(totals(&c.All.Warmup))
	}
	for _, f := range c.TLSFailures {
		merge(&res.Totals.TLSFailures, f.Main)
		if o.Warmup > 0 {
			merge(&res.Warmup.TLSFailures, f.Warmup)
		}
	}
	res.Totals.Connections.PeakOpen = uint64(c.PeakOpen)
	res.Totals.Connections.MaxBurst = uint64(c.MaxBurst)
	res.Times = times(&c.All, r.good(c))
	var sets []*sampler.Window
	for i := range c.Windows {
		if w := &c.Windows[i].All; !w.Warmup() {
			res.Windows = append(res.Windows, window(w))
			sets = append(sets, w)
		}
	}
	res.Rates = r.rates(&c.All.Tally, sets, c)
	res.Sessions = r.sessionResult(&c.All, sets, c)
	if r.several() {
		for i := range r.streams {
			res.Streams = append(res.Streams, r.streamResult(c, i, &each[i]))
		}
	}
	return res
}

// judge returns the verdict on the run and one on each client, which is judged by
// its own model.
func (r *Run) judge(c *client.Result) (all sampler.Verdict, each []sampler.Verdict) {
	all, each = c.Judge(r.isClosed())
	if r.isClosed() || !r.several() {
		return all, each
	}
	_, closed := c.Judge(true)
	for i, s := range r.streams {
		if s.o.Process == nil {
			each[i] = closed[i]
		}
	}
	return all, each
}

func (r *Run) streamResult(c *client.Result, i int, v *sampler.Verdict) report.Stream {
	t, s := &c.Streams[i], r.streams[i]
	out := report.Stream{Name: s.name, Target: s.url(), Weight: s.weight, Verdict: verdict(v, s.broken()), Totals: totals(&t.Tally), Times: times(t, s.good(t))}
	out.Totals.TLSFailures = c.TLSFailures[i].Main
	var sets []*sampler.Window
	for k := range c.Windows {
		if w := &c.Windows[k].Streams[i]; !w.Warmup() {
			out.Windows = append(out.Windows, window(w))
			sets = append(sets, w)
		}
	}
	out.Rates = r.rates(&t.Tally, sets, c)
	return out
}

// good returns the latency of replies that were as expected.
func (s *stream) good(t *sampler.Totals) *sampler.Dist {
	if s.o.Expect != nil {
		return &t.Times.Good
	}
	return &t.Times.Latency
}

// good is that of all clients, each by what it expects.
func (r *Run) good(c *client.Result) *sampler.Dist {
	if !r.several() {
		return r.streams[0].good(&c.All)
	}
	var all sampler.Dist
	for i, s := range r.streams {
		all.Merge(s.good(&c.Streams[i]))
	}
	return &all
}

// merge adds counts to another set of them.
func merge(into *map[string]uint64, counts map[string]uint64) {
	for name, n := range counts {
		if *into == nil {
			*into = map[string]uint64{}
		}
		(*into)[name] += n
	}
}

func (r *Run) stopReason(c *client.Result) string {
	switch {
	case r.broken() != nil:
		return "error"
	case c.Stopped:
		return "signal"
	case c.Stalled:
		return "stalled"
	}
	last := r.streams[0]
	for _, s := range r.streams {
		// A closed model that only a count ends goes on for longer than any plan
		// says.
		if last.plannedEnd > 0 && (s.plannedEnd == 0 || s.plannedEnd > last.plannedEnd) {
			last = s
		}
	}
	switch o := &last.o; {
	case o.NumConns > 0 && (o.Duration == 0 || last.plannedEnd < o.Duration):
		return "count"
	case o.Duration > 0:
		return "duration"
	}
	return "schedule"
}

// echo returns the command line with its defaults made explicit, as httperf
// prints it; that of several clients has the name of each before what is its own.
func (r *Run) echo() string {
	name := "httpgen"
	if r.o.Classic {
		name = "httperf"
	}
	var parts []string
	for _, s := range r.streams {
		parts = append(parts, r.label(s)+strings.Join(r.arguments(s), " "))
	}
	return name + " " + strings.Join(parts, "; ")
}

// arguments returns what echo prints for a client.
func (r *Run) arguments(s *stream) []string {
	o := &s.o
	var args []string
	add := func(format string, v ...any) { args = append(args, fmt.Sprintf("--"+format, v...)) }
	seconds := func(name string, d time.Duration) {
		if d > 0 {
			add("%s=%g", name, d.Seconds())
		}
	}
	if o.Hog {
		add("hog")
	}
	if s.as.CloseReset {
		add("close-with-reset")
	}
	seconds("think-timeout", o.ThinkTimeout)
	seconds("timeout", o.Timeout)
	add("client=%d/%d", o.Client, o.Clients)
	if o.ServersFrom != "" {
		add("servers=%s", o.ServersFrom)
	} else {
		add("server=%s", o.Server)
	}
	if o.ServerName != "" {
		add("server_name=%s", o.ServerName)
	}
	add("port=%d", o.Port)
	add("uri=%s", o.URI)
	if o.TLS != nil {
		add("ssl")
	}
	if o.HTTP10 {
		add("http-version=1.0")
	}
	session := o.Session
	if session == nil {
		session = &Session{}
	}
	if session.Failure != nil {
		add("failure-status=%s", session.Failure)
	}
	if session.MaxConns > 0 {
		add("max-connections=%d", session.MaxConns)
	}
	if session.MaxPiped > 0 {
		add("max-piped-calls=%d", session.MaxPiped)
	}
	switch {
	case o.Process == nil && o.RateText == "":
	case o.Period:
		add("period=%s", o.RateText)
	default:
		add("rate=%s", o.RateText)
	}
	if o.SendBuffer > 0 {
		add("send-buffer=%d", o.SendBuffer)
	}
	if session.Retry {
		add("retry-on-failure")
	}
	if o.ReceiveBuffer > 0 {
		add("recv-buffer=%d", o.ReceiveBuffer)
	}
	if o.Cookies {
		add("session-cookies")
	}
	if !r.several() { // whose they are is not said there
		for _, lines := range report.AddedHeaders(o.Argv) {
			add("add-header='%s'", lines)
		}
	}
	if o.Method != "GET" {
		add("method=%s", o.Method)
	}
	switch {
	case session.Script != nil:
		add("wsesslog=%d,%.3f,%s", o.NumConns, o.Pause.Seconds(), o.From)
	case session.Pages:
		add("wsesspage=%d,%d,%.3f", o.NumConns, o.NumCalls, o.Pause.Seconds())
	case o.Session != nil:
		add("wsess=%d,%d,%.3f", o.NumConns, o.NumCalls, o.Pause.Seconds())
	default:
		if o.NumConns > 0 {
			add("num-conns=%d", o.NumConns)
		}
		add("num-calls=%d", o.NumCalls)
	}
	if o.Burst > 1 {
		add("burst-length=%d", o.Burst)
	}
	seconds("runtime", o.Duration)
	if o.Unix != "" {
		add("unix-socket=%s", o.Unix)
	}
	if o.Pool > 0 {
		add("connections=%d", o.Pool)
	}
	if o.Closed > 0 && (o.KeepOpen || o.Closed > 1) {
		add("closed=%d", o.Closed)
	}
	if o.Session == nil {
		seconds("burst-pause", o.Pause)
	}
	seconds("warmup", r.o.Warmup)
	if len(o.Requests) > 0 && o.Process == nil || len(o.Requests) > 0 && !o.Once {
		add("targets=%s", o.From)
	}
	if n := o.WorkingSet.N; n > 0 {
		add("wset=%d,%.3f", n, o.WorkingSet.Step)
	}
	return args
}

func totals(t *sampler.Tally) report.Totals {
	out := report.Totals{
		Arrivals:  report.Arrivals{Scheduled: t.Scheduled, Started: t.Started, StartedLate: t.StartedLate, Shed: shed(&t.Shed)},
		Completed: t.Completed(), Unfinished: t.Unfinished, LostCalls: t.LostCalls, Retries: t.Retries,
		Calls:       report.Calls{Planned: t.Planned, Replied: t.Replied, Unanswered: t.Unanswered, Unsent: t.Unsent, Unfinished: t.UnfinishedCalls},
		Connections: report.Connections{Attempted: t.Attempted, Established: t.Established, Failed: t.Failed},
		Requests:    t.Requests, Replies: t.Replies, Status: status(t.Status), Errors: failures(&t.Outcomes),
		Codes: map[string]uint64{},
		Bytes: report.Bytes{
			Sent: t.SentBytes, Received: t.ReceivedBytes, Request: t.RequestBytes, Header: t.HeaderBytes,
			Body: t.BodyBytes, Trailer: t.TrailerBytes, Framing: t.FramingBytes,
		},
	}
	for code, n := range t.Codes {
		if n > 0 {
			out.Codes[fmt.Sprint(code)] = n
		}
	}
	return out
}

func shed(counts *[sampler.NumCauses]uint64) (s report.Shed) {
	for c, n := range counts {
		s.Add(sampler.Cause(c).String(), n)
	}
	return s
}

func failures(outcomes *[sampler.NumClasses]uint64) (e report.Errors) {
	for c, n := range outcomes[sampler.OK+1:] {
		e.Add(sampler.Class(c+1).String(), n)
	}
	return e
}

func status(of func(digit int) uint64) (s report.Status) {
	for d := 1; d <= 5; d++ {
		s.Add(100*d, of(d))
	}
	s.Other = of(0)
	return s
}

// times fills in all durations. Among all arrivals, all but the good replies
// count as failures.
func times(t *sampler.Totals, good *sampler.Dist) report.Times {
	d := &t.Times
	out := report.Times{
		Latency: timing(&d.Latency), Service: timing(&d.Service), Lag: timing(&d.Lag), Wait: timing(&d.Wait),
		Connect: timing(&d.Connect), TLS: timing(&d.TLS), FirstByte: timing(&d.FirstByte),
		Transfer: timing(&d.Transfer), Lifetime: timing(&d.Lifetime), Failure: timing(&d.Failure),
	}
	beyond := max(d.Latency.Max(), d.Failure.Max(), t.Followed)
	out.All = report.NewAllArrivals(t.Planned, t.Planned-good.Count(), beyond.Seconds(), quantile(good))
	return out
}

func quantile(d *sampler.Dist) func(q float64) float64 {
	return func(q float64) float64 { return d.Quantile(q).Seconds() }
}

func timing(d *sampler.Dist) report.Timing {
	t := report.Timing{
		Count: d.Count(), Mean: d.Mean(), StdDev: d.Stddev(), Min: d.Min().Seconds(), Max: d.Max().Seconds(),
		Percentiles: report.NewPercentiles(d.Count(), quantile(d)),
	}
	// Encoding a histogram of ours cannot fail; an empty text stands for none.
	t.HDR, _ = d.Encode()
	return t
}

func window(w *sampler.Window) report.Window {
	return report.Window{
		StartSeconds: w.Start.Seconds(), LengthSeconds: w.Length.Seconds(),
		Scheduled: w.Scheduled, Started: w.Started, Shed: shed(&w.Shed), Replies: w.Replies,
		Status: status(func(d int) uint64 { return w.Status[d] }), Errors: failures(&w.Errors), Unfinished: w.Unfinished,
		Inflight: uint64(max(0, w.Inflight)), Connections: uint64(max(0, w.Connections)),
		Latency: summary(&w.Latency), Service: summary(&w.Service), Lag: windowLag(&w.Lag),
	}
}

func summary(s *sampler.Summary) report.Summary {
	out := report.Summary{Count: s.Count, Min: s.Min.Seconds(), Mean: s.Mean, Max: s.Max.Seconds(), StdDev: s.Stddev}
	out.Percentiles(func(q float64) float64 {
		if q < .9 {
			return s.P50.Seconds()
		}
		return s.P99.Seconds()
	})
	return out
}

func windowLag(s *sampler.Summary) report.WindowLag {
	l := summary(s)
	return report.WindowLag{P99: l.P99, Max: l.Max}
}

// rates samples the reply rate on the planned grid and gives the others over
// the whole run.
func (r *Run) rates(t *sampler.Tally, windows []*sampler.Window, c *client.Result) report.Rates {
	sending := (c.Sending - r.o.Warmup).Seconds()
	total := (c.Total - r.o.Warmup).Seconds()
	samples := r.samples(windows, c, func(w *sampler.Window) uint64 { return w.Replies })
	return report.Rates{
		OfferedPerSecond: report.Per(t.Scheduled, sending), StartedPerSecond: report.Per(t.Started, max(sending, (c.Starting-r.o.Warmup).Seconds())),
		ConnectionsPerSecond: report.Per(t.Attempted, total), RequestsPerSecond: report.Per(t.Requests, total),
		Replies: report.NewSamples(samples, r.o.Window.Seconds()),
	}
}
