package run

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"httpgen/pacer"
)

// perSource returns the local ports that a source address has, and how long one
// is in use after its connection when we close first.
func (s *stream) perSource() (ports int, reuse time.Duration) {
	p := localPorts(s.o.Hog)
	reuse = p.remote
	for _, a := range s.targets[0].Addrs {
		if a.Addr().IsLoopback() {
			reuse = p.loopback
		}
	}
	return p.n, reuse
}

// sourceCount returns how many source addresses share the load.
func (s *stream) sourceCount() int { return max(1, len(s.o.Sources)) }

// usesPorts says whether each arrival of an open model takes a local port.
func (s *stream) usesPorts() bool { return s.opens() && s.o.Unix == "" }

// competing returns how many new connections a second s and those clients make
// that take local ports from it: they come from the same source addresses and go
// to the same target. Of several source addresses the busiest one counts. With
// closed set, ports of closed connections are meant, of which a reset leaves none.
func (r *Run) competing(s *stream, closed bool) (rate float64, others int) {
	more := map[netip.Addr]float64{}
	for _, c := range r.streams {
		if c == s || !c.usesPorts() || closed && c.o.CloseMode == "rst" || !s.meets(c) {
			continue
		}
		rival := false
		for _, a := range c.sources() {
			if slices.Contains(s.sources(), a) {
				more[a] += c.meanRate() / float64(c.sourceCount())
				rival = true
			}
		}
		if rival {
			others++
		}
	}
	busiest := 0.
	for _, m := range more {
		busiest = max(busiest, m)
	}
	return s.meanRate() + busiest*float64(s.sourceCount()), others
}

// sources returns the source addresses, or the zero one where the system chooses.
func (s *stream) sources() []netip.Addr {
	if len(s.o.Sources) == 0 {
		return []netip.Addr{{}}
	}
	return s.o.Sources
}

// meets says whether s and c have the address of a target in common.
func (s *stream) meets(c *stream) bool {
	for _, a := range s.targets {
		for _, b := range c.targets {
			for _, addr := range a.Addrs {
				if slices.Contains(b.Addrs, addr) {
					return true
				}
			}
		}
	}
	return false
}

// portsRunDry says whether ordinary closing would use up the local ports
// before the plan is over.
func (r *Run) portsRunDry(s *stream) bool {
	if !s.usesPorts() {
		return false
	}
	n, reuse := s.perSource()
	span := reuse
	if s.plannedEnd > 0 {
		span = min(span, s.plannedEnd)
	}
	rate, _ := r.competing(s, true)
	return rate*span.Seconds() > float64(n*s.sourceCount())
}

// makePlan fills the plan; an error refuses a plan that cannot work.
func (r *Run) makePlan() error {
	if err := r.checkDescriptors(); err != nil {
		return err
	}
	o, p := r.o, &r.plan
	if o.Warmup > 0 && r.plannedEnd > 0 && o.Warmup >= r.plannedEnd {
		return fmt.Errorf("warm-up of %v in a run of %v: nothing would be measured", o.Warmup, r.plannedEnd)
	}
	if r.several() {
		p.Header = append(p.Header, r.together())
	}
	for _, s := range r.streams {
		if r.several() {
			p.Header = append(p.Header, fmt.Sprintf("%s%s to %s (%s)", r.label(s), s.offer(), s.whereTo(), s.manner()))
		} else {
			p.Header = append(p.Header, s.offer(), fmt.Sprintf("To %s (%s, %s)", s.whereTo(), plural(o.Workers, "loop"), s.manner()))
		}
		if s.o.Session != nil && s.o.Session.Pages {
			p.Header = append(p.Header, r.label(s)+"Each call is a page, and what it embeds is asked for beside that.")
		}
		if what := s.whatFor(); what != "" {
			p.Header = append(p.Header, r.label(s)+what)
		}
		if s.usesPorts() && s.meanRate() > 0 {
			r.warnOfPorts(s)
		}
	}
	if r.isClosed() {
		return nil
	}
	if o.Warmup > 0 {
		p.Header = append(p.Header, fmt.Sprintf("The first %s are warm-up: counted apart and left out of all figures.", seconds(o.Warmup)))
	}
	r.addLimits()
	return nil
}

// checkDescriptors refuses more connections than the process may have.
func (r *Run) checkDescriptors() error {
	limit := int(r.c.FileLimit())
	if limit == 0 {
		return nil
	}
	const advice = "as many descriptors and this process may open %d: raise the limit (ulimit -n) or ask for fewer"
	all := 0
	for _, s := range r.streams {
		of := ""
		if r.several() {
			of = "client " + s.name + ": "
		}
		for _, c := range []struct {
			n    int
			what string
		}{{s.o.Pool, "a pool"}, {s.o.Closed, "a closed model"}, {r.o.MaxInflight, "a bound"}} {
			if c.n > limit {
				return fmt.Errorf("%s%s of %d connections needs "+advice, of, c.what, c.n, limit)
			}
		}
		n := s.o.Pool
		if n == 0 {
			n = s.o.Closed
		}
		// Neither is above the limit, so that the sum stays small.
		if all += n; all > limit {
			return fmt.Errorf("%d connections in the pools and closed models of the clients up to %s need "+advice, all, s.name, limit)
		}
	}
	return nil
}

// warnOfPorts warns where the local ports of s would not do.
func (r *Run) warnOfPorts(s *stream) {
	n, reuse := s.perSource()
	all := n * s.sourceCount()
	rate, others := r.competing(s, true)
	connections := fmt.Sprintf("%.0f connections/s", rate)
	if others > 0 {
		connections += fmt.Sprintf(" (with those of %s from the same source)", plural(others, "other client"))
	}
	warn := func(format string, args ...any) {
		r.plan.Warnings = append(r.plan.Warnings, r.label(s)+fmt.Sprintf(format, args...))
	}
	switch {
	case !s.as.CloseReset && r.portsRunDry(s):
		warn("local ports run dry after %.3g s: %s need %.0f ports while each lingers for %s, and there are %d; use --close-mode rst, more source addresses (--myaddr), or a rate of at most %.0f/s",
			float64(all)/rate, connections, rate*reuse.Seconds(), seconds(reuse), all, float64(all)/reuse.Seconds())
	case s.as.CloseReset && s.o.CloseMode == "auto":
		warn("connections are closed by reset: closed in the ordinary way, %s would use up %d local ports in %.3g s (each lingers for %s); --close-mode fin forces it", connections, all, float64(all)/rate, seconds(reuse))
	}
}

// addLimits adds to the header what a server that stalls takes first.
func (r *Run) addLimits() {
	var rate, held float64 // connections/s, and how many the timeouts let be open
	var longest time.Duration
	bounded := true
	waiting, opening := 0, 0
	for _, s := range r.streams {
		if !s.opens() || s.meanRate() <= 0 {
			continue
		}
		opening++
		rate += s.meanRate()
		hold := s.hold()
		held += s.meanRate() * hold.Seconds()
		longest, bounded = max(longest, hold), bounded && hold > 0
		if hold == 0 && s.o.Deadline == 0 {
			waiting++
		}
	}
	if opening == 0 {
		return
	}
	most := r.c.MaxInflight()
	stall := float64(most) / rate
	text := fmt.Sprintf("Limits: %d arrivals in flight (%d descriptors)", most, r.c.FileLimit())
	what := fmt.Sprintf("a server that stalls fills the bound of %d arrivals in flight after %.3g s", most, stall)
	for _, s := range r.streams {
		if !s.usesPorts() || s.meanRate() <= 0 {
			continue
		}
		n, reuse := s.perSource()
		all := n * s.sourceCount()
		if !r.several() {
			text += fmt.Sprintf(", %d local ports x %s", n, plural(s.sourceCount(), "source"))
			if s.as.CloseReset {
				text += ", closed by reset (no TIME_WAIT)"
			} else {
				text += fmt.Sprintf(" (%.0f connections/s for ever: a port is free again after %s)", float64(all)/reuse.Seconds(), seconds(reuse))
			}
		}
		competing, _ := r.competing(s, false)
		if last := float64(all) / competing; last < stall {
			stall, what = last, fmt.Sprintf("a server that stalls takes the last of %d local ports after %.3g s", all, last)
			if r.several() {
				what = fmt.Sprintf("a server that stalls takes the last of the %d local ports of client %s after %.3g s", all, s.name, last)
			}
		}
	}
	switch {
	case bounded && stall > longest.Seconds():
		word := "timeout"
		if r.several() {
			word = "longest timeout"
		}
		what = fmt.Sprintf("a server that stalls holds at most %.0f of them (%s %s)", held, word, seconds(longest))
	case r.plannedEnd > 0 && stall > r.plannedEnd.Seconds():
		what = "the whole run fits into them"
	}
	r.plan.Header = append(r.plan.Header, text+"; "+what+".")
	if waiting > 0 {
		of := ""
		if r.several() {
			of = fmt.Sprintf(" for %d of %s", waiting, plural(len(r.streams), "client"))
		}
		r.plan.Header = append(r.plan.Header, fmt.Sprintf("No timeout%s: a silent server is waited for %s after the last start (--drain).", of, seconds(*r.o.Drain)))
	}
}

// hold returns how long the timeouts let a silent server hold a connection, 0 for
// ever.
func (s *stream) hold() time.Duration {
	return max(s.o.ConnectTimeout, s.as.Timeouts.Reply, s.o.Timeout)
}

// together says what several clients offer in all.
func (r *Run) together() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s together", plural(len(r.streams), "client"))
	if r.plannedEnd > 0 {
		fmt.Fprintf(&b, " for %s", seconds(r.plannedEnd))
	}
	if r.count > 0 {
		fmt.Fprintf(&b, ", %s", plural(int(r.count), "arrival"))
	}
	fmt.Fprintf(&b, " (%s)", plural(r.o.Workers, "loop"))
	return b.String()
}

// offer says what will be offered.
func (s *stream) offer() string {
	o := &s.o
	var b strings.Builder
	_, mean, _ := o.shape()
	calls := "1 call"
	if mean != 1 {
		calls = figure(mean) + " calls"
	}
	if o.Process == nil {
		kind := "new connections"
		if o.KeepOpen {
			kind = "kept-open connections"
		}
		switch {
		case o.Session != nil:
			fmt.Fprintf(&b, "Closed model: %s at a time x %s", plural(o.Closed, "session"), calls)
		case o.Pool > 0:
			fmt.Fprintf(&b, "Closed model: %s at a time on a pool of %s", plural(o.Closed, "call"), plural(o.Pool, "kept-open connection"))
		default:
			fmt.Fprintf(&b, "Closed model: %s at a time on %s x %s", plural(o.Closed, "arrival"), kind, calls)
		}
	} else {
		rate := s.meanRate()
		switch {
		case o.Pool > 0:
			fmt.Fprintf(&b, "%s calls/s on a pool of %s", figure(rate), plural(o.Pool, "kept-open connection"))
		case o.Session != nil:
			fmt.Fprintf(&b, "%s sessions/s x %s = %s calls/s", figure(rate), calls, figure(rate*mean))
		default:
			fmt.Fprintf(&b, "%s connections/s x %s = %s calls/s", figure(rate), calls, figure(rate*mean))
		}
		if kind := pacer.Kind(o.Process); kind != "constant" {
			fmt.Fprintf(&b, " (%s, mean)", kind)
		}
	}
	what := "connection"
	if o.Session != nil {
		what = "session"
	}
	if o.Pool > 0 || o.KeepOpen {
		what = "call"
	}
	switch {
	case s.plannedEnd > 0 && s.count > 0:
		fmt.Fprintf(&b, " for %s, %s", seconds(s.plannedEnd), plural(int(s.count), what))
	case s.plannedEnd > 0:
		fmt.Fprintf(&b, " for %s", seconds(s.plannedEnd))
	case s.count > 0:
		fmt.Fprintf(&b, ", %s", plural(int(s.count), what))
	default:
		b.WriteString(" until a signal")
	}
	return b.String()
}

// whereTo says where connections go, and from where.
func (s *stream) whereTo() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s at ", s.url())
	if s.o.Unix != "" {
		fmt.Fprintf(&b, "unix socket %s", s.o.Unix)
	}
	for i, a := range s.targets[0].Addrs {
		if i > 0 {
			b.WriteString(", then ")
		}
		b.WriteString(a.String())
	}
	if n := len(s.targets) - 1; n > 0 {
		fmt.Fprintf(&b, " and %s in turn", plural(n, "other server"))
	}
	switch n := len(s.o.Sources); n {
	case 0:
	case 1:
		fmt.Fprintf(&b, " from %s", s.o.Sources[0])
	default:
		fmt.Fprintf(&b, " from %s", plural(n, "source address"))
	}
	return b.String()
}

// manner says how calls are made.
func (s *stream) manner() string {
	text := "no timeout"
	if s.o.Timeout > 0 {
		text = "timeout " + seconds(s.o.Timeout)
	}
	if s.o.HTTP2 {
		text = "HTTP/2, " + text
	}
	return text
}

// Plan returns what the run will do.
func (r *Run) Plan() *Plan { return &r.plan }

// seconds prints a duration in seconds.
func seconds(d time.Duration) string { return fmt.Sprintf("%.6g s", d.Seconds()) }

// figure prints a rate.
func figure(v float64) string {
	if v > 0 && v < .001 {
		return fmt.Sprintf("%.3g", v)
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", v), "0"), ".")
}

func plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "s"):
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
