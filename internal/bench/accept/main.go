package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"httpgen/internal/bench/lab"
)

// A bench is what a check works with.
type bench struct {
	*lab.Bench
	sheet
	runs int // how often a check repeats its measurement; 0 leaves it to the check
}

// repeat returns how often a check measures that would do it n times.
func (b *bench) repeat(n int) int { return cmp.Or(b.runs, n) }

// A check prints its figures. An error means that it could not be made.
type check struct {
	name string
	run  func(ctx context.Context, b *bench) error
}

var checks = []check{
	{"seed", seed},
	{"known", known},
	{"stall", stall},
	{"sigstop", sigstop},
	{"trace", trace},
	{"pacing", pacing},
	{"speed", speed},
	{"held", held},
	{"overrate", overrate},
	{"ports", ports},
	{"silent", silent},
	{"counts", rates},
	{"growth", growth},
}

func main() {
	only := flag.String("only", "", "checks to make, comma separated; default all")
	runs := flag.Int("runs", 0, "how often a measurement is repeated; 0 leaves it to the check")
	flag.Parse()
	chosen, err := choose(*only)
	if err == nil && (*runs < 0 || flag.NArg() > 0) {
		err = fmt.Errorf("%d runs, arguments %q: want no fewer than 0, and flags only", *runs, flag.Args())
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "accept: %v\n", err)
		os.Exit(2)
	}
	if why := lab.Missing(); why != "" {
		fmt.Printf("Nothing checked: %s.\n", why)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	short, err := run(ctx, chosen, *runs)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "accept: %v\n", err)
	}
	if err != nil || short > 0 {
		os.Exit(1)
	}
}

// choose returns the checks that names lists; all without any.
func choose(names string) ([]check, error) {
	if names == "" {
		return checks, nil
	}
	var chosen []check
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(checks, func(c check) bool { return c.name == name })
		if i < 0 {
			var all []string
			for _, c := range checks {
				all = append(all, c.name)
			}
			return nil, fmt.Errorf("check %q: want some of %s", name, strings.Join(all, ", "))
		}
		chosen = append(chosen, checks[i])
	}
	return chosen, nil
}

// run makes the checks and returns how many figures fell short.
func run(ctx context.Context, chosen []check, runs int) (short int, err error) {
	l, err := lab.New(ctx)
	if err != nil {
		return 0, err
	}
	defer l.Close()
	b := &bench{Bench: l, sheet: sheet{w: os.Stdout}, runs: runs}
	for _, c := range chosen {
		b.check = c.name
		err := c.run(ctx, b)
		if ctx.Err() != nil {
			return b.short, context.Cause(ctx)
		}
		if err != nil {
			b.failed(err)
		}
	}
	if b.short > 0 {
		fmt.Fprintf(b.w, "%d figures fell short.\n", b.short)
	} else {
		fmt.Fprintln(b.w, "All figures hold.")
	}
	return b.short, nil
}
