package report

import (
	"fmt"
	"io"
	"strings"
)

func write(w io.Writer, s string) error {
	if _, err := io.WriteString(w, s); err != nil {
		return fmt.Errorf("report: text: %w", err)
	}
	return nil
}

func classic(b *strings.Builder, r *Result, more Details) {
	t, d := &r.Totals, r.Run.TotalSeconds
	fmt.Fprintf(b, "%s\n", oneLine(r.Run.Echo))
	if more.Verbose > 0 {
		sampleLines(b, r)
	}
	fmt.Fprintf(b, "Maximum connect burst length: %d\n", t.Connections.MaxBurst)
	if more.Verbose > 1 {
		lifetimeLines(b, r.Times.Lifetime.HDR)
	}
	b.WriteByte('\n')
	totalLine(b, t, d)
	b.WriteByte('\n')
	connectionLines(b, r)
	b.WriteByte('\n')
	requests := float64(t.Requests)
	fmt.Fprintf(b, "Request rate: %.1f req/s (%.1f ms/req)\n", r.Rates.RequestsPerSecond, 1e3*ratio(d, requests))
	fmt.Fprintf(b, "Request size [B]: %.1f\n\n", ratio(float64(t.Bytes.Request), requests))
	replyRateLine(b, &r.Rates.Replies)
	replyTimeLine(b, &r.Times)
	replyLines(b, t)
	b.WriteByte('\n')
	if more.Periodic {
		periodicLine(b, t)
	}
	resourceLines(b, r)
	b.WriteByte('\n')
	errorLines(b, &t.Errors)
	if r.Sessions != nil {
		b.WriteByte('\n')
		sessionLines(b, r.Sessions)
	}
}

func totalLine(b *strings.Builder, t *Totals, duration float64) {
	fmt.Fprintf(b, "Total: connections %d requests %d replies %d test-duration %.3f s\n",
		t.Connections.Attempted, t.Requests, t.Replies, duration)
}

func connectionLines(b *strings.Builder, r *Result) {
	c, life := &r.Totals.Connections, &r.Times.Lifetime
	fmt.Fprintf(b, "Connection rate: %.1f conn/s (%.1f ms/conn, <=%d concurrent connections)\n",
		r.Rates.ConnectionsPerSecond, 1e3*ratio(r.Run.TotalSeconds, float64(c.Attempted)), c.PeakOpen)
	fmt.Fprintf(b, "Connection time [ms]: min %.1f avg %.1f max %.1f median %.1f stddev %.1f\n",
		1e3*life.Min, 1e3*life.Mean, 1e3*life.Max, 1e3*life.median(), 1e3*life.StdDev)
	// httperf's connect time ends with the TLS handshake.
	fmt.Fprintf(b, "Connection time [ms]: connect %.1f\n", 1e3*(r.Times.Connect.Mean+r.Times.TLS.Mean))
	fmt.Fprintf(b, "Connection length [replies/conn]: %.3f\n", ratio(float64(r.Totals.Replies), float64(life.Count)))
}

func replyRateLine(b *strings.Builder, s *Samples) {
	fmt.Fprintf(b, "Reply rate [replies/s]: min %.1f avg %.1f max %.1f stddev %.1f (%d samples)\n",
		s.Min, s.Avg, s.Max, s.StdDev, s.Samples)
}

func replyTimeLine(b *strings.Builder, t *Times) {
	fmt.Fprintf(b, "Reply time [ms]: response %.1f transfer %.1f\n", 1e3*t.FirstByte.Mean, 1e3*t.Transfer.Mean)
}

func replyLines(b *strings.Builder, t *Totals) {
	mean := func(bytes uint64) float64 { return ratio(float64(bytes), float64(t.Replies)) }
	header, body, trailer := t.Bytes.Header, t.Bytes.Body, t.Bytes.Trailer
	fmt.Fprintf(b, "Reply size [B]: header %.1f content %.1f footer %.1f (total %.1f)\n",
		mean(header), mean(body), mean(trailer), mean(header+body+trailer))
	s := &t.Status
	fmt.Fprintf(b, "Reply status: 1xx=%d 2xx=%d 3xx=%d 4xx=%d 5xx=%d\n", s.Class1, s.Class2, s.Class3, s.Class4, s.Class5)
}

func resourceLines(b *strings.Builder, r *Result) {
	d, user, system := r.Run.TotalSeconds, r.CPU.UserSeconds, r.CPU.SystemSeconds
	fmt.Fprintf(b, "CPU time [s]: user %.2f system %.2f (user %.1f%% system %.1f%% total %.1f%%)\n",
		user, system, 100*ratio(user, d), 100*ratio(system, d), 100*ratio(user+system, d))
	// As in httperf, trailers, chunk framing and unfinished messages are left out.
	perSecond := Per(r.Totals.Bytes.Request+r.Totals.Bytes.Header+r.Totals.Bytes.Body, d)
	fmt.Fprintf(b, "Net I/O: %.1f KB/s (%.1f*10^6 bps)\n", perSecond/1024, 8e-6*perSecond)
}

// errorLines maps our reasons to httperf's counters. Other takes every reason
// that httperf has no counter for, so the counters add up to the total.
func errorLines(b *strings.Builder, e *Errors) {
	clientTimo := e.ConnectTimeout + e.SendTimeout + e.ReplyTimeout + e.Deadline
	connReset := e.Reset + e.ClosedEarly
	total := sum(e.counts())
	other := total - clientTimo - e.SocketTimeout - e.ConnectRefused - connReset -
		e.FDUnavailable - e.AddressUnavailable - e.FileTableFull
	fmt.Fprintf(b, "Errors: total %d client-timo %d socket-timo %d connrefused %d connreset %d\n",
		total, clientTimo, e.SocketTimeout, e.ConnectRefused, connReset)
	fmt.Fprintf(b, "Errors: fd-unavail %d addrunavail %d ftab-full %d other %d\n",
		e.FDUnavailable, e.AddressUnavailable, e.FileTableFull, other)
}

func sessionLines(b *strings.Builder, s *Sessions) {
	// The average is over the whole run, as in httperf; the others are of the samples.
	fmt.Fprintf(b, "Session rate [sess/s]: min %.2f avg %.2f max %.2f stddev %.2f (%d/%d)\n",
		s.Rate.Min, s.PerSecond, s.Rate.Max, s.Rate.StdDev, s.OK, s.Total)
	fmt.Fprintf(b, "Session: avg %.2f connections/session\n", s.ConnectionsPerSession)
	fmt.Fprintf(b, "Session lifetime [s]: %.1f\n", s.LifetimeSeconds)
	fmt.Fprintf(b, "Session failtime [s]: %.1f\n", s.FailtimeSeconds)
	b.WriteString("Session length histogram:")
	for _, n := range s.LengthHistogram {
		fmt.Fprintf(b, " %d", n)
	}
	b.WriteByte('\n')
}
