package main

import (
	"bytes"
	"fmt"

	"github.com/alecthomas/kong"
)

// grammar is the command line as kong reads it, after the first pass.
type grammar struct {
	ShowVersion bool         `name:"version" short:"V" help:"Print the version."`
	Run         runCmd       `cmd:"" help:"Offer load to a server and report what came of it. This is the default: its name may be left out."`
	Sweep       sweepCmd     `cmd:"" help:"Look for the highest rate at which a server keeps to an objective."`
	Compare     compareCmd   `cmd:"" help:"Compare servers, or settings of one, in interleaved trials, or results that were saved."`
	Fair        fairCmd      `cmd:"" help:"Offer the load of several clients at once and say whether each gets its share."`
	Serve       serveCmd     `cmd:"" help:"Run the built-in server, whose capacity is known in advance."`
	Schema      schemaCmd    `cmd:"" help:"Print a JSON schema of the results, or the names of all."`
	Dashboard   dashboardCmd `cmd:"" help:"Write dashboards and rules for Grafana and Prometheus."`
	Version     versionCmd   `cmd:"" help:"Print the version."`
}

// groups are the headings of the help.
var groups = []kong.Group{
	{Key: "experiment", Title: "Experiment"},
	{Key: "arms", Title: "Arms"},
	{Key: "load", Title: "Load: how many arrivals, and when"},
	{Key: "session", Title: "Sessions"},
	{Key: "connection", Title: "Connection"},
	{Key: "tls", Title: "TLS"},
	{Key: "request", Title: "Request"},
	{Key: "timeout", Title: "Timeouts (0 is none)"},
	{Key: "output", Title: "Output"},
	{Key: "metrics", Title: "Metrics, for Prometheus"},
	{Key: "engine", Title: "Engine"},
	{Key: "behaviour", Title: "Behaviour"},
}

// newGrammar returns an empty grammar and its parser.
func newGrammar() (*grammar, *kong.Kong) {
	g := &grammar{}
	k := kong.Must(g,
		kong.Name("httpgen"),
		kong.ExplicitGroups(groups),
		kong.ConfigureHelp(kong.HelpOptions{NoAppSummary: true, WrapUpperBound: 100}),
		kong.ValueFormatter(func(v *kong.Value) string { return v.Help }),
	)
	return g, k
}

// usage is the first lines of each command's help, with the name of the program
// left open.
var usage = map[string]string{
	"run":       "Usage: %[1]s [run] [URL] [flags]\n       %[1]s sweep | compare | fair | serve | schema | dashboard | version [--help]\n",
	"sweep":     "Usage: %[1]s sweep URL [flags]\n",
	"compare":   "Usage: %[1]s compare NAME=URL NAME=URL ... --rate RATE | --closed N [flags]\n       %[1]s compare FILE FILE ... [flags]\n",
	"fair":      "Usage: %[1]s fair [URL] --clients N --rate RATE [flags]\n       %[1]s fair [URL] --client name=NAME,rate=RATE,... --client ... [flags]\n",
	"serve":     "Usage: %[1]s serve [ADDR] [flags]\n",
	"schema":    "Usage: %[1]s schema [NAME]\n",
	"dashboard": "Usage: %[1]s dashboard --out DIR [--force]\n",
	"version":   "Usage: %[1]s version\n",
}

// classicUsage is that of run where there are no other commands.
const classicUsage = "Usage: %[1]s [URL] [flags]\n"

// help returns the help of a command.
func (p *program) help(k *kong.Kong, command string) string {
	first := usage[command]
	if p.classic {
		first = classicUsage
	}
	b := bytes.NewBufferString(fmt.Sprintf(first, p.name))
	k.Stdout = b
	ctx, err := kong.Trace(k, []string{command})
	if err == nil {
		err = ctx.PrintUsage(false)
	}
	if err != nil {
		// Neither can fail: the command exists and the buffer takes everything.
		panic("httpgen: help: " + err.Error())
	}
	return b.String()
}
