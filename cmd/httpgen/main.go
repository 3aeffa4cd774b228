// Command httpgen is an open-loop HTTP load generator. Called by the name
// httperf it takes httperf's options and prints httperf's report.
//
// The command line goes through two steps. A first pass (argv.go) expands it the
// way getopt does: unique prefixes, values that begin with a dash, short options
// in one argument. What comes out has one form only, --name=value, and is read
// into structs by kong. The result of a run goes to standard output, everything
// else to standard error.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	// A reader that went away is an error of the next write, not the end of the
	// process: the files of the run are still to be written.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(command(os.Args, os.Stdout, os.Stderr))
}

// program is one call of the command.
type program struct {
	argv           []string // as it was called, the name included
	name           string   // what it was called by, in front of all messages
	manual         string   // what prints the help of the command that was asked for
	classic        bool     // called by the name httperf
	stdout, stderr io.Writer
}

// newProgram returns the program as argv calls it. Without a name it is httpgen.
func newProgram(argv []string, stdout, stderr io.Writer) *program {
	p := &program{argv: argv, name: "httpgen", stdout: stdout, stderr: stderr}
	if len(argv) > 0 && argv[0] != "" {
		p.name = filepath.Base(argv[0])
	}
	p.manual = p.name + " --help"
	p.classic = p.name == "httperf"
	return p
}

// command carries out a command line and returns the exit code.
func command(argv []string, stdout, stderr io.Writer) int {
	p := newProgram(argv, stdout, stderr)
	code, err := p.dispatch()
	var usage usageError
	switch {
	case err == nil:
		return code
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "%s: %v (try %s)\n", p.name, err, p.manual)
		return exitUsage
	default:
		fmt.Fprintf(stderr, "%s: %v\n", p.name, err)
		return exitInternal
	}
}

// dispatch parses the command line and runs the command it names.
func (p *program) dispatch() (int, error) {
	g, k := newGrammar()
	l, err := expand(k, p.argv, p.classic)
	if l.command != "run" {
		p.manual = p.name + " " + l.command + " --help"
	}
	if err != nil {
		return 0, usageError{err}
	}
	switch {
	case l.help:
		return 0, p.print(p.help(k, l.command))
	case l.version:
		return 0, p.print(versionText())
	}
	if _, err := k.Parse(append([]string{l.command}, l.args...)); err != nil {
		return 0, usageError{err}
	}
	switch l.command {
	case "sweep":
		return g.Sweep.sweep(p)
	case "compare":
		return g.Compare.compare(p)
	case "fair":
		return g.Fair.fair(p)
	case "serve":
		return g.Serve.serve(p)
	case "schema":
		return 0, g.Schema.print(p)
	case "dashboard":
		return 0, g.Dashboard.write(p)
	case "version":
		return 0, p.print(versionText())
	}
	if g.Run.Verbose > 0 {
		for _, name := range l.ignored {
			fmt.Fprintf(p.stderr, "%s: --%s has no effect\n", p.name, name)
		}
	}
	return g.Run.run(p)
}

// print writes text to standard output.
func (p *program) print(text string) error {
	if _, err := io.WriteString(p.stdout, text); err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	return nil
}

// warn tells the user what is probably not meant.
func (p *program) warn(text string) { fmt.Fprintf(p.stderr, "%s: warning: %s\n", p.name, text) }
