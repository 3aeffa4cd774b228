package main

import (
	"strings"

	"httpgen/internal/dashboard"
)

// dashboardCmd is the command dashboard.
type dashboardCmd struct {
	Out   string `group:"output" required:"" placeholder:"DIR" help:"Where the files go; it is made if it is not there."`
	Force bool   `group:"output" help:"Replace files that are there."`
}

// Help implements kong.HelpProvider.
func (*dashboardCmd) Help() string {
	return "The files are two Grafana dashboards (for classic and for native histograms) with provisioning, and for Prometheus recording rules, alerts with their unit tests, and a scrape configuration."
}

// write writes the files and prints their names.
func (c *dashboardCmd) write(p *program) error {
	paths, err := dashboard.Write(c.Out, c.Force)
	if err != nil {
		return err
	}
	return p.print(strings.Join(paths, "\n") + "\n")
}
