package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"httpgen/internal/report"
)

// overrate asks for far more than a machine can do: the run ends on time and
// says so.
func overrate(ctx context.Context, b *bench) error {
	s, err := b.Serve(ctx, nil)
	if err != nil {
		return err
	}
	defer s.Stop()
	const length, drain = 5, 1
	r, err := b.Generate(ctx, time.Minute, append(s.Flags(), "--rate", "1000000", "--duration", fmt.Sprint(length), "--timeout", "1", "--drain", fmt.Sprint(drain))...)
	if err != nil {
		return err
	}
	b.atMost("ends after", r.Outcome.Wall.Seconds(), length+drain+1, " s")
	b.equal("scheduled", r.Totals.Arrivals.Scheduled, 1000000*length)
	b.adds("accounts", &r.Totals)
	b.verdict(&r.Verdict, report.Invalid)
	b.is("exit code", fmt.Sprint(r.Outcome.Code), "4")
	return nil
}

// rates checks that the schedule has exactly the arrivals that it should.
func rates(ctx context.Context, b *bench) error {
	s, err := b.Serve(ctx, nil)
	if err != nil {
		return err
	}
	defer s.Stop()
	for _, c := range []struct {
		rate    string
		seconds int
		want    uint64
	}{
		{"0.5", 6, 3},
		{"7", 3, 21},
		{"333", 3, 999},
		{"999", 3, 2997},
		{"1001", 3, 3003},
		{"30011", 2, 60022},
	} {
		r, err := b.Generate(ctx, time.Minute, append(s.Flags(), "--rate", c.rate, "--duration", fmt.Sprint(c.seconds), "--timeout", "5")...)
		if err != nil {
			return err
		}
		a := &r.Totals.Arrivals
		b.equal(c.rate+"/s scheduled", a.Scheduled, c.want)
		b.equal(c.rate+"/s started and shed", a.Started+a.Shed.Total(), c.want)
	}
	return nil
}

// narrow gives the network namespace that it runs in 100 local ports, none of
// which can be used again before a minute is over, and runs its arguments.
const narrow = `ip link set lo up && echo 50000 50099 >/proc/sys/net/ipv4/ip_local_port_range &&
echo 0 >/proc/sys/net/ipv4/tcp_tw_reuse && exec "$@"`

// ports lets httpgen run out of local ports: they are counted, and the verdict
// says what to do.
func ports(ctx context.Context, b *bench) error {
	if why := namespaces(ctx, b); why != "" {
		b.skip(why)
		return nil
	}
	s, err := b.Serve(ctx, []string{"unshare", "--net", "sh", "-c", narrow, "sh"})
	if err != nil {
		return err
	}
	defer s.Stop()
	flags := append(s.Flags(), "--rate", "200", "--num-conns", "400", "--timeout", "2", "--close-mode", "fin")
	r, err := b.generateIn(ctx, s.PID(), flags...)
	if err != nil {
		return err
	}
	b.within("address_unavailable", float64(r.Totals.Errors.AddressUnavailable), 300, 10, "")
	b.adds("accounts", &r.Totals)
	b.verdict(&r.Verdict, report.Invalid)
	message := "no such reason"
	if c := reason(&r.Verdict, "address_unavailable"); c != nil {
		message = c.Message
	}
	b.put(strings.Contains(message, "--myaddr") || strings.Contains(message, "ip_local_port_range"), "remedy", message, "named")
	return nil
}
