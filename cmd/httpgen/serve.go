package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"httpgen/internal/target"
)

// serveCmd is the command serve.
type serveCmd struct {
	Addr string `arg:"" optional:"" name:"ADDR" help:"Where to listen: HOST:PORT, :PORT (any IPv4 address) or unix:PATH; default 127.0.0.1:8080. Port 0 is any free one."`

	Listen      string    `group:"behaviour" short:"l" placeholder:"ADDR" help:"The same as ADDR."`
	ServiceTime service   `group:"behaviour" placeholder:"TIME|exp:TIME" help:"How long a worker is busy with a request, such as 10ms or, exponentially distributed, exp:10ms; default 0."`
	Workers     count     `group:"behaviour" placeholder:"N" help:"Requests served at once; default any number. It wants a service time."`
	Capacity    capacity  `group:"behaviour" placeholder:"N" help:"Requests whose service begins in a second, such as 400, evenly spaced when more are asked for; default any number. Not with workers."`
	Collapse    *collapse `group:"behaviour" placeholder:"KEPT[:HOLD]" help:"The more is offered above the capacity, the less of it is left: KEPT of it, such as 0.5, where twice as much is offered. It stays so low until no more than the capacity has been offered for HOLD, default 5s. The excess is reset at once."`
	Shares      shares    `group:"behaviour" placeholder:"ADDRESS=N,ADDRESS=N" help:"Weights of the clients, such as 127.0.0.2=1,127.0.0.3=3; others weigh 1. Each address has its own queue, and the next service goes to the one with the fewest for its weight. It wants a capacity, or workers and a service time."`
	Queue       *room     `group:"behaviour" placeholder:"N" help:"Requests that may wait for a worker or for the capacity; default any number. With shares those of each address, default 32; with a collapse default 0."`
	Overload    *overload `group:"behaviour" placeholder:"HOW" help:"What becomes of a request that finds the queue full: reject (503), reset, or accept: there is no queue, connections are accepted only when a worker is free; default reject. With shares or a collapse it is reset."`
	Backlog     count     `group:"behaviour" placeholder:"N" help:"Connections that the kernel may keep for accepting; default 4096."`
	Size        *size     `group:"behaviour" placeholder:"SIZE" help:"Bytes of a reply's body; default 100."`
	Status      count     `group:"behaviour" aliases:"reply-status" placeholder:"CODE" help:"Status of a reply, 200 to 599; default 200."`
	Freeze      []freeze  `group:"behaviour" sep:"none" placeholder:"LENGTH@START" help:"Do nothing for LENGTH, from START after the first connection, such as 1s@2s. May be repeated."`
	Silent      bool      `group:"behaviour" help:"Read requests and never answer."`
	Deaf        bool      `group:"behaviour" help:"Never accept a connection."`
	Close       bool      `group:"behaviour" help:"Close each connection after its first reply."`
	Seed        seed      `group:"behaviour" placeholder:"N" help:"Seed of exponential service times; default 0."`
	For         span      `group:"behaviour" placeholder:"TIME" help:"End after this; default never."`
}

// Help implements kong.HelpProvider.
func (*serveCmd) Help() string {
	return "It serves until SIGINT or SIGTERM and then prints what it did."
}

// options returns what the flags ask for.
func (c *serveCmd) options() (target.Options, error) {
	o := target.Options{
		Listen: "127.0.0.1:8080", Service: c.ServiceTime.Service, Workers: int(c.Workers),
		Capacity: float64(c.Capacity), Shares: c.Shares.list,
		Backlog: int(c.Backlog), Status: int(c.Status), Silent: c.Silent, Deaf: c.Deaf, Close: c.Close, Seed: uint64(c.Seed),
	}
	if err := c.check(); err != nil {
		return o, err
	}
	if c.Overload != nil {
		o.Overload = c.Overload.Overload
	}
	if c.Collapse != nil {
		o.Collapse = target.Collapse(*c.Collapse)
	}
	switch {
	case c.Addr != "" && c.Listen != "" && c.Addr != c.Listen:
		return o, fmt.Errorf("--listen %s: the argument says %s, want one of them", c.Listen, c.Addr)
	case c.Addr != "":
		o.Listen = c.Addr
	case c.Listen != "":
		o.Listen = c.Listen
	}
	if c.Queue != nil {
		o.Queue = int(*c.Queue)
		if o.Queue == 0 {
			o.Queue = target.NoQueue
		}
	}
	if c.Size != nil {
		o.Size = int(*c.Size)
		if o.Size == 0 {
			o.Size = target.NoBody
		}
	}
	for _, f := range c.Freeze {
		o.Freeze = append(o.Freeze, target.Freeze(f))
	}
	return o, nil
}

// check returns an error for the first option that can have no effect beside the
// others.
func (c *serveCmd) check() error {
	service := c.ServiceTime.Service
	busy := service != target.Constant(0) && service != target.Exponential(0)
	late := c.Overload != nil && c.Overload.Overload == target.AcceptLate
	switch {
	case c.Deaf && c.Silent:
		return errors.New("--deaf and --silent: want one of them")
	case c.Deaf && len(c.Freeze) > 0:
		return errors.New("--freeze with --deaf: it counts from the first connection that is accepted, and none is; want one of them")
	}
	for _, f := range []struct {
		name         string
		given, waits bool // waits: it is about requests that may have to wait
	}{
		{"workers", c.Workers > 0, true}, {"shares", c.Shares.list != nil, true}, {"queue", c.Queue != nil, true}, {"overload", c.Overload != nil, true},
		{"capacity", c.Capacity > 0, false}, {"collapse", c.Collapse != nil, false},
		{"service-time", service != target.Service{}, false}, {"seed", c.Seed > 0, false},
		{"size", c.Size != nil, false}, {"status", c.Status > 0, false}, {"close", c.Close, false},
	} {
		switch {
		case !f.given:
		case c.Deaf:
			return fmt.Errorf("--%s with --deaf: no connection is accepted; want one of them", f.name)
		case c.Silent:
			return fmt.Errorf("--%s with --silent: no request is answered; want one of them", f.name)
		case f.waits && c.Capacity == 0 && !busy:
			return fmt.Errorf("--%s without --service-time: requests keep no worker busy; want both or neither", f.name)
		case f.waits && c.Capacity == 0 && c.Workers == 0:
			return fmt.Errorf("--%s without --workers: all requests are served at once, none waits; want both or neither", f.name)
		}
	}
	resets := "" // the option that decides what becomes of what exceeds a queue
	switch {
	case c.Shares.list != nil:
		resets = "shares"
	case c.Collapse != nil:
		resets = "collapse"
	}
	switch {
	case c.Capacity > 0 && c.Workers > 0:
		return errors.New("--capacity with --workers: each of them says how much can be served; want one of them")
	case c.Capacity > 0 && late:
		return errors.New("--overload accept with --capacity: connections would wait for workers, and there are none; want one of them")
	case c.Collapse != nil && c.Capacity == 0:
		return fmt.Errorf("--collapse %v without --capacity: nothing says what collapses; want both or neither", target.Collapse(*c.Collapse))
	case c.Overload != nil && c.Overload.Overload != target.Reset && resets != "":
		return fmt.Errorf("--overload %v with --%s: what exceeds the queue is reset; want one of them", c.Overload, resets)
	case c.Queue != nil && *c.Queue == 0 && c.Shares.list != nil:
		return errors.New("--queue 0 with --shares: nobody waits, so nobody takes turns; want a larger queue")
	case c.Overload != nil && !late && c.Queue == nil && resets == "":
		return fmt.Errorf("--overload %v without --queue: any number of requests may wait; want both or neither", c.Overload)
	case c.Size != nil && *c.Size > 0 && (c.Status == http.StatusNoContent || c.Status == http.StatusNotModified):
		return fmt.Errorf("--size %d with --status %d: such a reply has no body; want one of them", *c.Size, c.Status)
	case c.Seed > 0 && !strings.HasPrefix(service.String(), "exp:"):
		return fmt.Errorf("--seed %d without --service-time exp:TIME: nothing else is random; want both or neither", c.Seed)
	}
	for _, f := range c.Freeze {
		if c.For > 0 && f.At >= time.Duration(c.For) {
			return fmt.Errorf("--freeze %v with --for %v: the server has ended by then; want an earlier start", target.Freeze(f), time.Duration(c.For))
		}
	}
	return nil
}

// capacity is a number of requests per second, above 0.
type capacity float64

func (n *capacity) UnmarshalText(b []byte) error {
	v, err := number(string(b))
	if err != nil || v.Sign() <= 0 {
		return fmt.Errorf("%q: want requests per second, such as 400", b)
	}
	f, _ := v.Float64()
	*n = capacity(f)
	return nil
}

type collapse target.Collapse

func (c *collapse) UnmarshalText(b []byte) error {
	v, err := target.ParseCollapse(string(b))
	*c = collapse(v)
	return bare(err)
}

type shares struct{ list []target.Share }

func (s *shares) UnmarshalText(b []byte) error {
	v, err := target.ParseShares(string(b))
	s.list = v
	return bare(err)
}

// serve carries out the command serve.
func (c *serveCmd) serve(p *program) (int, error) {
	o, err := c.options()
	if err != nil {
		return 0, usageError{err}
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	s, err := target.Start(o)
	if errno := new(syscall.Errno); errors.As(err, errno) {
		return 0, bare(err)
	} else if err != nil {
		return 0, usageError{bare(err)}
	}
	fmt.Fprintf(p.stderr, "%s: serving %s\n", p.name, s.URL())
	for _, d := range s.Dues() {
		fmt.Fprintf(p.stderr, "%s: %v is due %.1f/s (%.1f %%); its full queue takes %v: a client whose timeout is not longer loses what waits\n",
			p.name, d.Source, d.PerSecond, 100*d.Part, d.Wait.Round(time.Millisecond))
	}
	var over <-chan time.Time
	if c.For > 0 {
		over = time.After(time.Duration(c.For))
	}
	select {
	case <-signals:
	case <-over:
	}
	stats := s.Stop()
	if stats.Err != nil {
		err = stats.Err
	}
	if e := p.print(stats.String()); e != nil {
		err = e
	}
	return exitOK, err
}
