package run

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"httpgen/client"
	"httpgen/internal/report"
	"httpgen/pacer"
	"httpgen/sampler"
)

// result fills the model from what the client and the sampler found.
func (r *Run) result(c *client.Result) *report.Result {
	o := &r.o
	closed := o.Process == nil
	all, each := c.Judge(closed)
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
		Verdict: verdict(&all),
		CPU:     report.CPU{UserSeconds: c.User.Seconds(), SystemSeconds: c.System.Seconds()},
	}
	if closed {
		res.Model = report.Closed
	}
	if err := r.broken(); err != nil {
		res.Verdict.Status = "invalid"
		res.Verdict.Reasons = append(res.Verdict.Reasons, report.Reason{Code: "replay", Message: fmt.Sprintf("the recording could not be read to its end, and arrivals from there on made no calls: %v", err)})
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
	res.Times = times(&c.All, o.Expect != nil)
	var sets []*sampler.Window
	for i := range c.Windows {
		if w := &c.Windows[i].All; !w.Warmup() {
			res.Windows = append(res.Windows, window(w))
			sets = append(sets, w)
		}
	}
	res.Rates = r.rates(&c.All.Tally, sets, c)
	res.Sessions = r.sessionResult(&c.All, sets, c)
	if len(c.Streams) > 1 {
		for i := range c.Streams {
			res.Streams = append(res.Streams, r.streamResult(c, i, each[i]))
		}
	}
	return res
}

func (r *Run) streamResult(c *client.Result, i int, v sampler.Verdict) report.Stream {
	t := &c.Streams[i]
	s := report.Stream{Name: t.Name, Target: r.url(), Verdict: verdict(&v), Totals: totals(&t.Tally), Times: times(t, r.o.Expect != nil)}
	s.Totals.TLSFailures = c.TLSFailures[i].Main
	var sets []*sampler.Window
	for k := range c.Windows {
		if w := &c.Windows[k].Streams[i]; !w.Warmup() {
			s.Windows = append(s.Windows, window(w))
			sets = append(sets, w)
		}
	}
	s.Rates = r.rates(&t.Tally, sets, c)
	return s
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
	case r.o.NumConns > 0 && (r.o.Duration == 0 || r.plannedEnd < r.o.Duration):
		return "count"
	case r.o.Duration > 0:
		return "duration"
	}
	return "schedule"
}

func (r *Run) config(c *client.Result) report.Config {
	o := &r.o
	cfg := report.Config{
		Rate: o.RateText, CallsPerConnection: o.NumCalls, BurstLength: o.Burst, Connections: o.Pool, Closed: o.Closed, KeepOpen: o.KeepOpen,
		MaxInflight: r.c.MaxInflight(), Loops: o.Workers, SpinSeconds: c.Spin.Seconds(), CatchUp: o.CatchUp.String(),
		Seed: o.Seed, CloseMode: o.CloseMode, CloseModeUsed: "fin", DrainSeconds: o.Drain.Seconds(),
		WarmupSeconds: o.Warmup.Seconds(), WindowSeconds: o.Window.Seconds(), BaseWindowSeconds: r.base.Seconds(),
		Method: o.Method, Engine: r.c.Engine(), Nofile: r.c.FileLimit(), Process: "closed",
		Target: report.Target{URL: r.url(), Unix: o.Unix},
		Timeouts: report.Timeouts{
			ConnectSeconds: bound(r.stream.Timeouts.Connect), SendSeconds: bound(r.stream.Timeouts.Send),
			ReplySeconds: bound(r.stream.Timeouts.Reply), DeadlineSeconds: bound(o.Deadline), ThinkSeconds: bound(o.ThinkTimeout),
		},
	}
	cfg.Workload = r.workload()
	switch {
	case o.HTTP2:
		cfg.HTTPVersion = "2"
	case o.HTTP10:
		cfg.HTTPVersion = "1.0"
	default:
		cfg.HTTPVersion = "1.1"
	}
	if r.closeReset {
		cfg.CloseModeUsed = "rst"
	}
	if !o.NoHost {
		cfg.Target.HostHeader = hostHeader(o)
	}
	for _, a := range r.targets[0].Addrs {
		cfg.Target.Addresses = append(cfg.Target.Addresses, a.String())
	}
	for _, a := range o.Sources {
		cfg.Sources = append(cfg.Sources, a.String())
	}
	if o.Process != nil {
		cfg.Process = pacer.Kind(o.Process)
		cfg.RatePerSecond = r.meanRate()
	}
	return cfg
}

// workload says what the calls ask for.
func (r *Run) workload() report.Workload {
	o := &r.o
	w := report.Workload{Kind: "calls", File: o.From, Sessions: o.Session != nil, Servers: len(r.targets)}
	switch {
	case o.WorkingSet.N > 0:
		w.Kind, w.Entries, w.Step = "working_set", o.WorkingSet.N, o.WorkingSet.Step
	case len(o.URIs) > 0:
		w.Kind, w.Entries, w.Once = "list", len(o.URIs), o.Once
	case len(o.Requests) > 0:
		w.Kind, w.Entries, w.Once = "requests", len(o.Requests), o.Once
	case o.Log != nil:
		w.Kind, w.Entries = "log", int(o.Log.Len())
	case o.Session != nil && o.Session.Script != nil:
		w.Kind, w.Entries = "script", len(o.Session.Script)
	case o.Session != nil && o.Session.Pages:
		w.Kind = "pages"
	}
	return w
}

// meanRate returns the mean rate of the plan, or the rate now where the plan
// has no end.
func (r *Run) meanRate() float64 {
	if r.plannedEnd > 0 && r.count > 0 {
		return float64(r.count) / r.plannedEnd.Seconds()
	}
	return r.o.Process.Rate(0)
}

func bound(d time.Duration) *float64 {
	if d == 0 {
		return nil
	}
	return new(d.Seconds())
}

// url returns the target as a URL without secrets.
func (r *Run) url() string {
	o := r.o
	o.ServerName = ""
	if o.TLS != nil {
		return "https://" + hostHeader(&o) + o.URI
	}
	return "http://" + hostHeader(&o) + o.URI
}

// echo returns the command line with its defaults made explicit, as httperf
// prints it.
func (r *Run) echo() string {
	o := &r.o
	name := "httpgen"
	if o.Classic {
		name = "httperf"
	}
	args := []string{name}
	add := func(format string, v ...any) { args = append(args, fmt.Sprintf("--"+format, v...)) }
	seconds := func(name string, d time.Duration) {
		if d > 0 {
			add("%s=%g", name, d.Seconds())
		}
	}
	if o.Hog {
		add("hog")
	}
	if r.closeReset {
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
	for _, lines := range report.AddedHeaders(o.Argv) {
		add("add-header='%s'", lines)
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
	seconds("warmup", o.Warmup)
	if len(o.Requests) > 0 && o.Process == nil || len(o.Requests) > 0 && !o.Once {
		add("targets=%s", o.From)
	}
	if n := o.WorkingSet.N; n > 0 {
		add("wset=%d,%.3f", n, o.WorkingSet.Step)
	}
	return strings.Join(args, " ")
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

// times fills in all durations. Where replies are judged, those that were not as
// expected count as failures among all arrivals.
func times(t *sampler.Totals, judged bool) report.Times {
	d := &t.Times
	out := report.Times{
		Latency: timing(&d.Latency), Service: timing(&d.Service), Lag: timing(&d.Lag), Wait: timing(&d.Wait),
		Connect: timing(&d.Connect), TLS: timing(&d.TLS), FirstByte: timing(&d.FirstByte),
		Transfer: timing(&d.Transfer), Lifetime: timing(&d.Lifetime), Failure: timing(&d.Failure),
	}
	beyond := max(d.Latency.Max(), d.Failure.Max(), t.Followed)
	good := &d.Latency
	if judged {
		good = &d.Good
	}
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
