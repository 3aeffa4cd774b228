package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"httpgen/internal/experiment"
	"httpgen/internal/report"
	"httpgen/internal/run"
)

// schemaCmd is the command schema.
type schemaCmd struct {
	Name string `arg:"" optional:"" name:"NAME" help:"Which schema; without it the names are listed."`
}

func (c *schemaCmd) print(p *program) error {
	names := slices.Concat(report.Schemas(), experiment.Schemas())
	if c.Name == "" {
		return p.print(strings.Join(names, "\n") + "\n")
	}
	get := report.Schema
	if slices.Contains(experiment.Schemas(), c.Name) {
		get = experiment.Schema
	}
	b, err := get(c.Name)
	if err != nil {
		return usageError{fmt.Errorf("schema %q: want one of %s", c.Name, strings.Join(names, ", "))}
	}
	return p.print(string(b))
}

// versionCmd is the command version.
type versionCmd struct{}

// versionText returns the version of the program and of what it was built with.
func versionText() string {
	info, _ := debug.ReadBuildInfo()
	return fmt.Sprintf("httpgen %s (%s, %s/%s%s)\n", run.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH, revision(info))
}

// revision returns a separator and the short revision that a build was made of,
// nothing when the build does not know.
func revision(info *debug.BuildInfo) string {
	if info == nil {
		return ""
	}
	var hash, dirty string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			hash = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	if hash == "" {
		return ""
	}
	return ", " + hash + dirty
}
