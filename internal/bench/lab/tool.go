package lab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"httpgen/internal/report"
)

// A Load is what a tool is asked for: one of the two shapes that every one of
// them has.
type Load struct {
	Server *Server

	// New connections with one call each, as fast as they go.
	Count   int // connections
	Sources int // addresses they come from: 1, or more for tools that can

	// Calls on kept-open connections, each after the reply to the last one.
	// They are asked for when Length is set.
	Length time.Duration
}

const (
	// saturating is a rate of new connections that no core reaches.
	saturating = 60000
	// callers is the number of connections of a closed load.
	callers = 50
)

// A Measurement is what one run of a tool gave.
type Measurement struct {
	OK, Failed   uint64        // completed calls, and those that were not
	Rate         float64       // completed calls per second
	User, System time.Duration // processor time of the tool's process
	Overflowed   bool          // the kernel dropped connections: the rate is not the tool's
}

// UserMicros returns the user time per completed call in microseconds.
func (m *Measurement) UserMicros() float64 { return perCall(m.User, m.OK) }

// SystemMicros returns the system time per completed call in microseconds.
func (m *Measurement) SystemMicros() float64 { return perCall(m.System, m.OK) }

func perCall(d time.Duration, n uint64) float64 {
	if n == 0 {
		return 0
	}
	return float64(d) / float64(time.Microsecond) / float64(n)
}

// A Tool is a load generator.
type Tool struct {
	Name   string
	Spread bool // it can use several source addresses
	// argv returns the command for a load. Path is a scratch file.
	argv func(b *Bench, l *Load, path string) []string
	// after returns a command that turns the scratch file into text; nil when
	// the tool prints the text itself.
	after func(path string) []string
	parse func(text string) (Measurement, error)
}

// The tools that have a part of their own in a comparison. Httpgen and Bare are
// always there.
var (
	Httpgen = &Tool{Name: "httpgen", Spread: true, argv: httpgenCommand, parse: parseHttpgen}
	Bare    = &Tool{Name: "bare loop", Spread: true, argv: bareCommand, parse: parseBare}
	Httperf = &Tool{Name: "httperf", argv: httperfCommand, parse: parseHttperf}
	Wrk     = &Tool{Name: "wrk", argv: wrkCommand, parse: parseWrk}
)

// Peers are the other tools.
var Peers = []*Tool{
	Httperf,
	Wrk,
	{Name: "ab", argv: abCommand, parse: parseAb},
	{Name: "hey", argv: heyCommand, parse: parseHey},
	{Name: "vegeta", argv: vegetaCommand, after: vegetaReport, parse: parseVegeta},
}

// Installed says whether the tool is there.
func (t *Tool) Installed() bool {
	if t == Httpgen || t == Bare {
		return true
	}
	_, err := exec.LookPath(t.Name)
	return err == nil
}

// toolLimit bounds a run in time.
const toolLimit = 30 * time.Second

// attempts bounds how often a run is repeated in which the kernel dropped
// connections.
const attempts = 3

// Measure runs the tool on ClientCore. From one source address it waits first
// until the ports of earlier runs are free.
func (t *Tool) Measure(ctx context.Context, b *Bench, l Load) (Measurement, error) {
	var m Measurement
	for range attempts {
		if l.Length == 0 && l.Sources == 1 {
			if err := Drain(ctx); err != nil {
				return m, err
			}
		}
		before, err := Overflows()
		if err != nil {
			return m, err
		}
		if m, err = t.run(ctx, b, &l); err != nil {
			return m, err
		}
		after, err := Overflows()
		if err != nil {
			return m, err
		}
		if m.Overflowed = after > before; !m.Overflowed {
			break
		}
	}
	return m, nil
}

func (t *Tool) run(ctx context.Context, b *Bench, l *Load) (Measurement, error) {
	path := b.Path("tool.out")
	o, err := Run(ctx, ClientCore, toolLimit, t.argv(b, l, path)...)
	if err != nil {
		return Measurement{}, err
	}
	text := o.Stdout
	if t.after != nil {
		argv := t.after(path)
		out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).Output()
		os.Remove(path)
		if err != nil {
			return Measurement{}, fmt.Errorf("lab: %s: %w", t.Name, err)
		}
		text = string(out)
	}
	m, err := t.parse(text)
	if err != nil {
		return m, fmt.Errorf("lab: %s ended with %d: %w: %s", t.Name, o.Code, err, lastLine(o.Stderr))
	}
	if m.User+m.System == 0 {
		m.User, m.System = o.User, o.System
	}
	return m, nil
}

func httpgenCommand(b *Bench, l *Load, _ string) []string {
	argv := append(b.JSON("--timeout", "5", "--close-mode", "fin"), l.Server.Flags()...)
	if l.Length > 0 {
		return append(argv, "--closed", strconv.Itoa(callers), "--duration", l.Length.String())
	}
	argv = append(argv, "--rate", strconv.Itoa(saturating), "--num-conns", strconv.Itoa(l.Count))
	if l.Sources > 1 {
		argv = append(argv, "--myaddr", "127.0.1.1-127.0.1."+strconv.Itoa(l.Sources))
	}
	return argv
}

func parseHttpgen(text string) (Measurement, error) {
	r, err := Decode(&Outcome{Stdout: text})
	if err != nil {
		return Measurement{}, err
	}
	t := &r.Totals
	n := t.Replies
	// The processor time of the run itself: starting the program takes some 20 ms
	// more, which at these counts is a microsecond a connection.
	return Measurement{
		OK: n, Failed: t.Errors.Total + t.Unfinished + t.Arrivals.Shed.Total(), Rate: report.Per(n, r.Run.TotalSeconds),
		User: time.Duration(r.CPU.UserSeconds * 1e9), System: time.Duration(r.CPU.SystemSeconds * 1e9),
	}, nil
}

func bareCommand(b *Bench, l *Load, _ string) []string {
	argv := []string{b.Bare, "-addr", l.Server.Addr(), "-path", l.Server.Path}
	if l.Length > 0 {
		return append(argv, "-closed", strconv.Itoa(callers), "-d", l.Length.String())
	}
	return append(argv, "-rate", strconv.Itoa(saturating), "-n", strconv.Itoa(l.Count), "-sources", strconv.Itoa(max(1, l.Sources)))
}

// httperfCommand asks for 2000 calls a connection where the length cannot be
// given.
func httperfCommand(_ *Bench, l *Load, _ string) []string {
	argv := append([]string{"httperf", "--timeout", "5", "--rate", strconv.Itoa(saturating)}, l.Server.Flags()...)
	if l.Length > 0 {
		return append(argv, "--num-conns", strconv.Itoa(callers), "--num-calls", "2000")
	}
	return append(argv, "--num-conns", strconv.Itoa(l.Count), "--num-calls", "1")
}

// wrkCommand asks for one second where a count cannot be given.
func wrkCommand(_ *Bench, l *Load, _ string) []string {
	argv := []string{"wrk", "-t", "1", "-c", strconv.Itoa(callers)}
	if l.Length > 0 {
		return append(argv, "-d", l.Length.String(), l.Server.URL())
	}
	return append(argv, "-d", "1s", "-H", "Connection: close", l.Server.URL())
}

// abCommand asks for 100000 calls where the length cannot be given without an
// own limit of calls.
func abCommand(_ *Bench, l *Load, _ string) []string {
	argv := []string{"ab", "-q", "-c", strconv.Itoa(callers)}
	if l.Length > 0 {
		return append(argv, "-k", "-n", "100000", l.Server.URL())
	}
	return append(argv, "-n", strconv.Itoa(l.Count), l.Server.URL())
}

func heyCommand(_ *Bench, l *Load, _ string) []string {
	argv := []string{"hey", "-c", strconv.Itoa(callers)}
	if l.Length > 0 {
		return append(argv, "-z", l.Length.String(), l.Server.URL())
	}
	return append(argv, "-n", strconv.Itoa(l.Count), "-disable-keepalive", l.Server.URL())
}

// vegetaCommand asks for one second where a count cannot be given.
func vegetaCommand(b *Bench, l *Load, path string) []string {
	targets := b.Path("vegeta.targets")
	length := time.Second
	if l.Length > 0 {
		length = l.Length
	}
	// The shell is replaced by vegeta, which then reads the one line as its input.
	return []string{"sh", "-c", `printf 'GET %s\n' "$1" >"$2" && exec vegeta attack -targets="$2" -rate=0 -max-workers="$3" -connections="$3" -duration="$4" -keepalive="$5" -output="$6"`,
		"sh", l.Server.URL(), targets, strconv.Itoa(callers), length.String(), strconv.FormatBool(l.Length > 0), path}
}

func vegetaReport(path string) []string { return []string{"vegeta", "report", "-type=json", path} }
