package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"httpgen/internal/bench/lab"
)

// section is one comparison.
type section struct {
	name string
	run  func(ctx context.Context, c *comparison) error
}

var sections = []section{
	{"one", func(ctx context.Context, c *comparison) error {
		return c.speed(ctx, "New connections from one source address", "connections/s", lab.Load{Count: connections, Sources: 1})
	}},
	{"many", func(ctx context.Context, c *comparison) error {
		return c.speed(ctx, "New connections from 64 source addresses, where the tool can", "connections/s", lab.Load{Count: connections, Sources: 64})
	}},
	{"calls", func(ctx context.Context, c *comparison) error {
		return c.speed(ctx, "Calls on 50 kept-open connections", "calls/s", lab.Load{Length: 2 * time.Second})
	}},
	{"pacing", func(ctx context.Context, c *comparison) error { return c.pacing(ctx) }},
}

const (
	connections = 15000 // of one measurement; all may be open at once within the usual limit of descriptors
	paceRate    = 5000  // connections per second
	paceLength  = 3 * time.Second
)

func main() {
	rounds := flag.Int("rounds", 5, "how often each tool has its turn")
	only := flag.String("only", "", "comparisons to make, comma separated: one, many, calls, pacing; default all")
	flag.Parse()
	chosen, err := choose(*only)
	if err == nil && (*rounds < 1 || flag.NArg() > 0) {
		err = fmt.Errorf("%d rounds, arguments %q: want at least one round and flags only", *rounds, flag.Args())
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "peers: %v\n", err)
		os.Exit(2)
	}
	if why := lab.Missing(); why != "" {
		fmt.Printf("Nothing compared: %s.\n", why)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err = run(ctx, chosen, *rounds)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "peers: %v\n", err)
		os.Exit(1)
	}
}

// choose returns the sections that names lists; all without any.
func choose(names string) ([]section, error) {
	if names == "" {
		return sections, nil
	}
	var chosen []section
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(sections, func(s section) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("comparison %q: want one, many, calls or pacing", name)
		}
		chosen = append(chosen, sections[i])
	}
	return chosen, nil
}

func run(ctx context.Context, chosen []section, rounds int) error {
	b, err := lab.New(ctx)
	if err != nil {
		return err
	}
	defer b.Close()
	s, err := b.Nginx(ctx)
	if err != nil {
		return err
	}
	defer s.Stop()
	c := &comparison{b: b, s: s, rounds: rounds, w: os.Stdout, tools: []*lab.Tool{lab.Httpgen, lab.Bare}}
	for _, t := range lab.Peers {
		if !t.Installed() {
			fmt.Fprintf(c.w, "%s is not installed: left out\n", t.Name)
			continue
		}
		c.tools = append(c.tools, t)
	}
	for _, s := range chosen {
		if err := s.run(ctx, c); err != nil {
			return err
		}
	}
	return nil
}
