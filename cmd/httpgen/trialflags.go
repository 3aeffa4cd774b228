package main

import (
	"fmt"
	"time"

	"httpgen/client"
	"httpgen/internal/run"
	"httpgen/pacer"
)

// trialFlags are the options of the command run that trials have: all but those
// that say how many arrivals there are and when. The result of an experiment is
// no run's, so that those about the output are not among them either.
type trialFlags struct {
	callFlags       `embed:""`
	warmupFlags     `embed:""`
	fileFlags       `embed:""`
	connectionFlags `embed:""`
	tlsFlags        `embed:""`
	requestFlags    `embed:""`
	timeoutFlags    `embed:""`
	engineFlags     `embed:""`
}

// oneASecond stands for the rate of a trial where something depends on there
// being one.
var oneASecond = rate{pace{text: "1", process: pacer.Constant{N: 1, Per: time.Second}}}

// options returns what trials against a URL ask for, with the fields of a header
// more, and warnings about what is probably not meant. Trials are of a closed
// model if there are callers.
func (f *trialFlags) options(p *program, url string, callers int, more []client.Header) (run.Options, []string, error) {
	c := &runCmd{
		URL: url, Closed: count(callers),
		callFlags: f.callFlags, warmupFlags: f.warmupFlags, fileFlags: f.fileFlags, connectionFlags: f.connectionFlags,
		tlsFlags: f.tlsFlags, requestFlags: f.requestFlags, timeoutFlags: f.timeoutFlags, engineFlags: f.engineFlags,
	}
	if callers == 0 {
		c.Rate = oneASecond
	}
	if url == "" && c.Server == "" && c.UnixSocket == "" && c.Servers.file == "" && c.Targets.file == "" && !c.recorded() {
		return run.Options{}, nil, fmt.Errorf("no URL: %s", wantURL)
	}
	o, warnings, err := c.options(p, time.Now(), lookup)
	switch {
	case err != nil:
		return o, nil, err
	case o.Once:
		return o, nil, fmt.Errorf("--wlog n,%s: a trial is as long as it is, want y,%s", c.WLog.file, c.WLog.file)
	}
	o.Header = append(o.Header, more...)
	if o.Expect == nil {
		o.Expect = answers
	}
	return o, warnings, socketThere(c.UnixSocket)
}

// answers are the replies that are good if nothing else is asked for. A server
// that refuses what it has no time for does so quickly, and would be praised.
var answers = func() *run.StatusSet {
	var s run.StatusSet
	for code := 200; code < 400; code++ {
		s[code] = true
	}
	return &s
}()

// trialTimeout bounds the calls of trials that nothing else bounds.
const trialTimeout = 5 * time.Second

// bounded returns options of which every call has an end. A server that hangs
// would otherwise take half a minute of each trial.
func bounded(o run.Options) run.Options {
	if o.Timeout == 0 && o.ReplyTimeout == 0 && o.Deadline == 0 {
		o.Timeout = trialTimeout
	}
	return o
}

// probe makes the run that a trial of a second would be, which is never carried
// out: it finds what is wrong with the options before anything begins.
func probe(o run.Options) (*run.Run, error) {
	o.NumConns, o.Forever, o.Duration = 0, false, o.Warmup+time.Second
	return run.New(o)
}
