package run

import (
	"fmt"
	"strings"
	"time"

	"httpgen/pacer"
)

// perSource returns the new connections a second that one source address and
// target address can carry for ever when we close first.
func (r *Run) perSource() (ports int, reuse time.Duration) {
	p := localPorts(r.o.Hog)
	reuse = p.remote
	for _, a := range r.targets[0].Addrs {
		if a.Addr().IsLoopback() {
			reuse = p.loopback
		}
	}
	return p.n, reuse
}

// sourceCount returns how many source addresses share the load.
func (r *Run) sourceCount() int { return max(1, len(r.o.Sources)) }

// portsRunDry says whether ordinary closing would use up the local ports
// before the plan is over.
func (r *Run) portsRunDry() bool {
	if r.o.Unix != "" || r.o.Pool > 0 || r.o.Process == nil {
		return false
	}
	n, reuse := r.perSource()
	span := reuse
	if r.plannedEnd > 0 {
		span = min(span, r.plannedEnd)
	}
	return r.meanRate()*span.Seconds() > float64(n*r.sourceCount())
}

// makePlan fills the plan; an error refuses a plan that cannot work.
func (r *Run) makePlan() error {
	o := &r.o
	p := &r.plan
	most := r.c.MaxInflight()
	for _, c := range []struct {
		n    int
		what string
	}{{o.Pool, "a pool"}, {o.Closed, "a closed model"}, {o.MaxInflight, "a bound"}} {
		if limit := int(r.c.FileLimit()); limit > 0 && c.n > limit {
			return fmt.Errorf("%s of %d connections needs as many descriptors and this process may open %d: raise the limit (ulimit -n) or ask for fewer", c.what, c.n, limit)
		}
	}
	if o.Warmup > 0 && r.plannedEnd > 0 && o.Warmup >= r.plannedEnd {
		return fmt.Errorf("warm-up of %v in a run of %v: nothing would be measured", o.Warmup, r.plannedEnd)
	}
	p.Header = append(p.Header, r.offer(), r.whereTo())
	if o.Session != nil && o.Session.Pages {
		p.Header = append(p.Header, "Each call is a page, and what it embeds is asked for beside that.")
	}
	if what := r.whatFor(); what != "" {
		p.Header = append(p.Header, what)
	}
	if o.Process == nil {
		return nil
	}
	if o.Warmup > 0 {
		p.Header = append(p.Header, fmt.Sprintf("The first %s are warm-up: counted apart and left out of all figures.", seconds(o.Warmup)))
	}
	if o.Pool > 0 {
		return nil
	}
	rate := r.meanRate()
	if rate <= 0 {
		return nil
	}
	first := fmt.Sprintf("Limits: %d arrivals in flight (%d descriptors)", most, r.c.FileLimit())
	stall := float64(most) / rate
	what := fmt.Sprintf("a server that stalls fills the bound of %d arrivals in flight after %.3g s", most, stall)
	if o.Unix == "" {
		n, reuse := r.perSource()
		all := n * r.sourceCount()
		lasting := float64(all) / reuse.Seconds()
		first += fmt.Sprintf(", %d local ports x %s", n, plural(r.sourceCount(), "source"))
		switch {
		case r.closeReset:
			first += ", closed by reset (no TIME_WAIT)"
		default:
			first += fmt.Sprintf(" (%.0f connections/s for ever: a port is free again after %s)", lasting, seconds(reuse))
		}
		if n := float64(all) / rate; n < stall {
			stall, what = n, fmt.Sprintf("a server that stalls takes the last of %d local ports after %.3g s", all, n)
		}
		if !r.closeReset && r.portsRunDry() {
			dry := float64(all) / rate
			p.Warnings = append(p.Warnings, fmt.Sprintf("local ports run dry after %.3g s: %.0f connections/s need %.0f ports while each lingers for %s, and there are %d; use --close-mode rst, more source addresses (--myaddr), or a rate of at most %.0f/s",
				dry, rate, rate*reuse.Seconds(), seconds(reuse), all, lasting))
		}
		if r.closeReset && o.CloseMode == "auto" {
			p.Warnings = append(p.Warnings, fmt.Sprintf("connections are closed by reset: closed in the ordinary way, %.0f connections/s would use up %d local ports in %.3g s (each lingers for %s); --close-mode fin forces it", rate, all, float64(all)/rate, seconds(reuse)))
		}
	}
	hold := max(o.ConnectTimeout, r.stream.Timeouts.Reply, o.Timeout)
	switch {
	case hold > 0 && stall > hold.Seconds():
		what = fmt.Sprintf("a server that stalls holds at most %.0f of them (timeout %s)", rate*hold.Seconds(), seconds(hold))
	case r.plannedEnd > 0 && stall > r.plannedEnd.Seconds():
		what = "the whole run fits into them"
	}
	p.Header = append(p.Header, first+"; "+what+".")
	if hold == 0 && o.Deadline == 0 {
		p.Header = append(p.Header, fmt.Sprintf("No timeout: a silent server is waited for %s after the last start (--drain).", seconds(*o.Drain)))
	}
	return nil
}

// offer says what will be offered.
func (r *Run) offer() string {
	o := &r.o
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
		rate := r.meanRate()
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
	case r.plannedEnd > 0 && r.count > 0:
		fmt.Fprintf(&b, " for %s, %s", seconds(r.plannedEnd), plural(int(r.count), what))
	case r.plannedEnd > 0:
		fmt.Fprintf(&b, " for %s", seconds(r.plannedEnd))
	case r.count > 0:
		fmt.Fprintf(&b, ", %s", plural(int(r.count), what))
	default:
		b.WriteString(" until a signal")
	}
	return b.String()
}

// whereTo says where connections go.
func (r *Run) whereTo() string {
	o := &r.o
	var b strings.Builder
	fmt.Fprintf(&b, "To %s at ", r.url())
	if o.Unix != "" {
		fmt.Fprintf(&b, "unix socket %s", o.Unix)
	}
	for i, a := range r.targets[0].Addrs {
		if i > 0 {
			b.WriteString(", then ")
		}
		b.WriteString(a.String())
	}
	if n := len(r.targets) - 1; n > 0 {
		fmt.Fprintf(&b, " and %s in turn", plural(n, "other server"))
	}
	if n := len(o.Sources); n > 0 {
		fmt.Fprintf(&b, " from %s", plural(n, "source address"))
	}
	fmt.Fprintf(&b, " (%s, ", plural(o.Workers, "loop"))
	if o.HTTP2 {
		b.WriteString("HTTP/2, ")
	}
	if o.Timeout > 0 {
		fmt.Fprintf(&b, "timeout %s)", seconds(o.Timeout))
	} else {
		b.WriteString("no timeout)")
	}
	return b.String()
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
