package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"httpgen/internal/metrics"
	"httpgen/internal/push"
	"httpgen/internal/run"
	"httpgen/sampler/prom"
)

// metricsFlags are the options about live metrics.
type metricsFlags struct {
	WebListen     []string `group:"metrics" name:"web.listen-address" sep:"none" placeholder:"HOST:PORT" help:"Serve the metrics of the run to Prometheus there; without a host on this machine alone. May be repeated. Off by default."`
	WebConfig     string   `group:"metrics" name:"web.config.file" placeholder:"FILE" help:"TLS and users of that endpoint, in the form of Prometheus' exporter toolkit."`
	WebPath       string   `group:"metrics" name:"web.telemetry-path" placeholder:"PATH" help:"Where the metrics are; default /metrics."`
	WebWaitScrape bool     `group:"metrics" name:"web.wait-scrape" help:"Start the run after the first scrape, so that increase() sees all of it."`
	Linger        linger   `group:"metrics" name:"metrics-linger" placeholder:"0|TIME|scrape" help:"How long the endpoint stays after the run: 0, a time, or until the next scrape, at most 60s; default scrape if there was one before, else 0."`

	Push             []destination `group:"metrics" name:"push" sep:"none" placeholder:"KIND=URL" help:"Push the metrics: remote-write=URL or pushgateway=URL. May be repeated."`
	PushInterval     duration      `group:"metrics" placeholder:"TIME" help:"Between two pushes, at least 100ms; default 1s."`
	PushLabel        []pushLabel   `group:"metrics" sep:"none" placeholder:"NAME=VALUE" help:"Label of every pushed series, beside job, instance and run_id, which it may replace. May be repeated."`
	PushNative       bool          `group:"metrics" help:"Push native histograms instead of classic ones. A Prometheus 2.42 without --enable-feature=native-histograms refuses all that comes with them."`
	PushUser         string        `group:"metrics" placeholder:"NAME" help:"User of the receiver; the password is in --push-password-file or the environment's HTTPGEN_PUSH_PASSWORD."`
	PushPasswordFile string        `group:"metrics" placeholder:"FILE" help:"File with the password."`
	PushTokenFile    string        `group:"metrics" placeholder:"FILE" help:"File with a bearer token; default the environment's HTTPGEN_PUSH_TOKEN."`
	PushHeaderFile   string        `group:"metrics" placeholder:"FILE" help:"File with header lines that go with each push."`
}

// linger is how long the endpoint stays.
type linger struct{ metrics.Linger }

func (l *linger) UnmarshalText(b []byte) (err error) {
	l.Linger, err = metrics.ParseLinger(string(b))
	return err
}

// A destination is where metrics are pushed.
type destination struct{ kind, url string }

func (d *destination) UnmarshalText(b []byte) error {
	kind, url, ok := strings.Cut(string(b), "=")
	if !ok || url == "" || kind != "remote-write" && kind != "pushgateway" {
		// What follows may hold a secret.
		return errors.New("want remote-write=URL or pushgateway=URL")
	}
	*d = destination{kind, url}
	return nil
}

// A pushLabel is a label of what is pushed.
type pushLabel struct{ name, value string }

func (l *pushLabel) UnmarshalText(b []byte) error {
	name, value, ok := strings.Cut(string(b), "=")
	if !ok || name == "" {
		return fmt.Errorf("%q: want NAME=VALUE", b)
	}
	*l = pushLabel{name, value}
	return nil
}

// A monitor shows runs to Prometheus, one after the other. The nil monitor shows
// nothing.
type monitor struct {
	*program
	quiet   bool
	server  *metrics.Server
	served  bool
	wait    bool
	linger  metrics.Linger
	run     atomic.Pointer[prom.Run] // the newest; a signal may end its sending at any time
	pushers []*push.Pusher
	pushing sync.WaitGroup
	stop    context.CancelFunc // of the pushing
	once    []sync.Once        // one a pusher: its warning
}

// monitor prepares what the flags ask for, nil if that is nothing. What is pushed
// goes by the identifier id.
func (m *metricsFlags) monitor(p *program, id string, quiet bool) (*monitor, error) {
	if len(m.WebListen) == 0 {
		switch {
		case m.WebConfig != "", m.WebPath != "", m.WebWaitScrape, m.Linger != linger{}:
			return nil, errors.New("--web.config.file, --web.telemetry-path, --web.wait-scrape and --metrics-linger: want --web.listen-address")
		case len(m.Push) == 0:
			if m.PushInterval > 0 || len(m.PushLabel) > 0 || m.PushNative || m.PushUser+m.PushPasswordFile+m.PushTokenFile+m.PushHeaderFile != "" {
				return nil, errors.New("options of --push: want --push")
			}
			return nil, nil
		}
	}
	s, err := metrics.New(metrics.Options{Listen: m.WebListen, ConfigFile: m.WebConfig, Path: m.WebPath, Version: run.Version})
	if err != nil {
		return nil, err
	}
	mon := &monitor{program: p, quiet: quiet, server: s, served: len(m.WebListen) > 0, wait: m.WebWaitScrape, linger: m.Linger.Linger}
	for _, to := range m.Push {
		o := push.Options{
			Auth:     push.Auth{BasicUser: m.PushUser, PasswordFile: m.PushPasswordFile, BearerFile: m.PushTokenFile, HeaderFile: m.PushHeaderFile},
			Interval: time.Duration(m.PushInterval), RunID: id, Native: m.PushNative, Labels: map[string]string{},
		}
		for _, l := range m.PushLabel {
			switch l.name {
			case "job":
				o.Job = l.value
			case "instance":
				o.Instance = l.value
			case "run_id":
				o.RunID = l.value
			default:
				o.Labels[l.name] = l.value
			}
		}
		if to.kind == "remote-write" {
			o.RemoteWrite = to.url
		} else {
			o.Pushgateway = to.url
		}
		pusher, err := push.New(o, s.Registry())
		if err != nil {
			return nil, err
		}
		if err := s.Registry().Register(pusher); err != nil {
			return nil, fmt.Errorf("--push %s: want each kind once: %w", to.kind, err)
		}
		mon.pushers = append(mon.pushers, pusher)
	}
	mon.once = make([]sync.Once, len(mon.pushers))
	return mon, nil
}

// attach shows a run from now on. The one before must have ended. Client and
// target are the labels of a run of one client; several go by their names.
func (m *monitor) attach(r *run.Run, client, target string) error {
	if m == nil {
		return nil
	}
	d := r.Description()
	i := prom.Info{
		ID: r.ID(), Process: d.Process, Engine: r.Engine(), Closed: d.Closed, Warmup: d.Warmup, Planned: d.Planned, MaxInflight: d.MaxInflight,
	}
	for _, s := range d.Streams {
		i.Streams = append(i.Streams, prom.Stream{Client: s.Name, Target: target, Weight: s.Weight, Judged: s.Judged, Rate: s.Rate})
	}
	if len(i.Streams) == 1 {
		i.Streams[0].Client = client
	}
	shown, err := m.server.Collector().Attach(d.Sampler, i)
	if err == nil {
		m.run.Store(shown)
	}
	return err
}

// tell says which trial of an experiment the attached run is.
func (m *monitor) tell(experiment, arm string, rung, trial int) error {
	if m == nil {
		return nil
	}
	return m.server.Collector().SetTrial(experiment, arm, rung, trial)
}

// start opens the endpoint and waits for the first scrape where that is asked for.
func (m *monitor) start(ctx context.Context) error {
	if m == nil {
		return nil
	}
	addrs, err := m.server.Start()
	if err != nil {
		return err
	}
	for _, w := range m.server.Warnings() {
		m.warn(w)
	}
	if len(addrs) > 0 {
		m.say("Metrics at %s", strings.Join(addrs, ", "))
	}
	if m.served {
		go func() {
			for err := range m.server.Failed() {
				m.warn(err.Error())
			}
		}()
	}
	if m.wait {
		m.say("The run starts after the first scrape.")
		if err := m.server.WaitScrape(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// begin notes that the attached run begins at a time, or at once if that is over.
func (m *monitor) begin(at time.Time) {
	if m == nil {
		return
	}
	if now := time.Now(); at.Before(now) {
		at = now
	}
	m.run.Load().Begin(at)
	m.ready()
}

// ready notes that what is to be shown has begun.
func (m *monitor) ready() {
	if m == nil || m.stop != nil {
		return
	}
	m.server.Ready()
	var push context.Context
	push, m.stop = context.WithCancel(context.Background())
	for i, p := range m.pushers {
		m.pushing.Go(func() { p.Run(push) })
		m.pushing.Go(func() { m.complain(push, i) })
	}
}

// complain warns once when a receiver cannot be reached, while the run goes on.
func (m *monitor) complain(ctx context.Context, i int) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := m.pushers[i].FirstError(); err != nil {
			m.once[i].Do(func() { m.warn(fmt.Sprintf("%v (the run goes on)", err)) })
			return
		}
	}
}

// say tells the user something unless it is to be quiet.
func (m *monitor) say(format string, args ...any) {
	if !m.quiet {
		fmt.Fprintf(m.stderr, format+"\n", args...)
	}
}

// drain notes that no more arrivals start.
func (m *monitor) drain() {
	if m == nil {
		return
	}
	if r := m.run.Load(); r != nil {
		r.Drain()
	}
}

// ended notes that the attached run is over.
func (m *monitor) ended() {
	if m != nil {
		m.run.Load().End(time.Now())
	}
}

// final notes that the totals stand.
func (m *monitor) final() {
	if m != nil {
		m.server.Final()
	}
}

// finish pushes what is left and, if stay is set, lets the endpoint linger, until
// ctx ends.
func (m *monitor) finish(ctx context.Context, stay bool) {
	if m == nil {
		return
	}
	var flushed sync.WaitGroup
	for i, p := range m.pushers {
		flushed.Go(func() {
			if err := p.Finish(ctx); err != nil {
				m.lost(i, err)
			}
		})
	}
	if m.served && stay {
		m.stay(ctx)
	}
	slow := time.AfterFunc(time.Second, func() { m.say("Still pushing; a signal ends that.") })
	flushed.Wait()
	slow.Stop()
	m.stop()
	m.pushing.Wait()
	m.server.Close()
}

// stay lets the endpoint linger.
func (m *monitor) stay(ctx context.Context) {
	if most := m.server.Longest(m.linger); most > 0 {
		m.say("The metrics stay for %v at most; a signal ends that.", most)
	}
	if m.server.Linger(ctx, m.linger) == metrics.Unscraped {
		m.warn("metrics: the final ones were not scraped before the time was up")
	}
}

// lost tells what a receiver did not get. A receiver that was warned of is not
// warned of again.
func (m *monitor) lost(i int, err error) {
	tell := func(text string) { fmt.Fprintf(m.stderr, "%s: %s\n", m.name, text) }
	m.once[i].Do(func() { tell = m.warn })
	tell(err.Error())
}
