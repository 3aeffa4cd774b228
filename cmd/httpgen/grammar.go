package main

import (
	"bytes"

	"github.com/alecthomas/kong"
)

// grammar is the command line as kong reads it, after the first pass.
type grammar struct {
	ShowVersion bool       `name:"version" short:"V" help:"Print the version."`
	Run         runCmd     `cmd:"" help:"Offer load to a server and report what came of it. This is the default: its name may be left out."`
	Serve       serveCmd   `cmd:"" help:"Run the built-in server, whose capacity is known in advance."`
	Schema      schemaCmd  `cmd:"" help:"Print a JSON schema of the results, or the names of all."`
	Version     versionCmd `cmd:"" help:"Print the version."`
}

// groups are the headings of the help.
var groups = []kong.Group{
	{Key: "load", Title: "Load: how many arrivals, and when"},
	{Key: "connection", Title: "Connection"},
	{Key: "tls", Title: "TLS"},
	{Key: "request", Title: "Request"},
	{Key: "timeout", Title: "Timeouts (0 is none)"},
	{Key: "output", Title: "Output"},
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

// usage is the first line of each command's help.
var usage = map[string]string{
	"run":     "Usage: httpgen [run] [URL] [flags]\n       httpgen serve | schema | version [--help]\n",
	"serve":   "Usage: httpgen serve [ADDR] [flags]\n",
	"schema":  "Usage: httpgen schema [NAME]\n",
	"version": "Usage: httpgen version\n",
}

// helpText returns the help of a command.
func helpText(k *kong.Kong, command string) string {
	b := bytes.NewBufferString(usage[command])
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
