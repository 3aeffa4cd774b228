package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"httpgen/client"
	"httpgen/internal/experiment"
)

// An arm is one of those that are compared, as it was asked for.
type arm struct {
	name, url       string
	header          []client.Header
	setup, teardown string // commands; empty for none
	ready           string // URL that answers when the arm is up; empty does not wait
	process         pidSource
}

// A pidSource is a process whose processor time is counted, with its children: its
// number, or a file that the number is in. The zero value is none.
type pidSource struct {
	pid  int
	file string
}

const wantProcess = "want the number of a process, or @FILE with the number in it"

// parseProcess reads a number or @FILE.
func parseProcess(s string) (pidSource, error) {
	if file, ok := strings.CutPrefix(s, "@"); ok {
		if file == "" {
			return pidSource{}, fmt.Errorf("%q: %s", s, wantProcess)
		}
		return pidSource{file: file}, nil
	}
	pid, err := strconv.ParseUint(s, 10, 31)
	if err != nil || pid == 0 {
		return pidSource{}, fmt.Errorf("%q: %s", s, wantProcess)
	}
	return pidSource{pid: int(pid)}, nil
}

// time returns how to read its processor time, nil for none. The file is read
// each time: what is in it may not be there before the arm is set up, and changes
// when a server is started anew.
func (p pidSource) time() func() (time.Duration, error) {
	switch {
	case p.file != "":
		return func() (time.Duration, error) {
			b, err := readFile(p.file)
			if err != nil {
				return 0, err
			}
			one, err := parseProcess(strings.TrimSpace(string(b)))
			if err != nil || one.pid == 0 {
				return 0, fmt.Errorf("%s holds %.40q: want the number of a process", p.file, b)
			}
			return experiment.ProcessCPU(one.pid)
		}
	case p.pid > 0:
		return func() (time.Duration, error) { return experiment.ProcessCPU(p.pid) }
	}
	return nil
}

// checkURL refuses what no request can be sent to.
func checkURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err == nil && u.User != nil:
		return fmt.Errorf("%s: a user in it is not sent, want none", u.Redacted())
	case err != nil && strings.Contains(s, "@"):
		// The text may hold a password.
		return fmt.Errorf("the URL is not valid: %s", wantURL)
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return fmt.Errorf("%q: %s", s, wantURL)
	}
	return nil
}

// isURL says whether an argument is meant to be a URL.
func isURL(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

// An armsFile is --arms: a JSON list of arms.
type armsFile struct{ arms []arm }

func (f *armsFile) UnmarshalText(b []byte) error {
	name := string(b)
	content, err := readFile(name)
	if err != nil {
		return err
	}
	if f.arms, err = parseArms(content); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// parseArms reads arms in JSON.
func parseArms(content []byte) ([]arm, error) {
	var list []struct {
		Name     string   `json:"name"`
		URL      string   `json:"url"`
		Headers  []string `json:"headers"`
		Setup    string   `json:"setup"`
		Ready    string   `json:"ready"`
		Teardown string   `json:"teardown"`
		PID      string   `json:"pid"`
	}
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	err := d.Decode(&list)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("more follows the list")
		}
	}
	if err != nil {
		return nil, fmt.Errorf(`%w: want a JSON list such as [{"name": "a", "url": "http://...", "headers": ["Host: x"], "setup": "...", "ready": "http://...", "teardown": "...", "pid": "@FILE"}]`, err)
	}
	var arms []arm
	for i, l := range list {
		fail := func(field string, err error) ([]arm, error) {
			return nil, fmt.Errorf("arm %d: %s: %w", i+1, field, err)
		}
		a := arm{name: l.Name, url: l.URL, setup: l.Setup, teardown: l.Teardown, ready: l.Ready}
		if a.name == "" {
			return fail("name", errors.New("empty, want one"))
		}
		if err := checkURL(a.url); err != nil {
			return fail("url", err)
		}
		if a.ready != "" {
			if err := checkURL(a.ready); err != nil {
				return fail("ready", err)
			}
		}
		for _, text := range l.Headers {
			var h header
			if err := h.UnmarshalText([]byte(text)); err != nil {
				return fail("headers", err)
			}
			a.header = append(a.header, client.Header(h))
		}
		if l.PID != "" {
			if a.process, err = parseProcess(l.PID); err != nil {
				return fail("pid", err)
			}
		}
		arms = append(arms, a)
	}
	return arms, nil
}

// A named is what an option says of one arm: NAME=VALUE.
type named struct{ name, value string }

func (n *named) UnmarshalText(b []byte) error {
	name, value, ok := strings.Cut(string(b), "=")
	if !ok || name == "" || value == "" {
		// What follows may hold a secret.
		return errors.New("want NAME=VALUE, with the name of an arm")
	}
	*n = named{name, value}
	return nil
}

// armFlags are the options about single arms.
type armFlags struct {
	Arms         armsFile `group:"arms" placeholder:"FILE" help:"A JSON list of arms, each {name, url, headers, setup, ready, teardown, pid}, before those of the command line; all but name and url may be left out."`
	Setup        []named  `group:"arms" sep:"none" placeholder:"NAME='COMMAND'" help:"Shell command that is carried out before the trials. What it starts in the background goes on; --teardown is to end it. May be repeated."`
	Ready        []named  `group:"arms" sep:"none" placeholder:"NAME=URL" help:"After all setups, wait until this answers with a status below 400. May be repeated."`
	ReadyTimeout span     `group:"arms" placeholder:"TIME" help:"How long that may take; default 30s."`
	Teardown     []named  `group:"arms" sep:"none" placeholder:"NAME='COMMAND'" help:"Shell command that is carried out in the end, whatever happens, for 30s at most. May be repeated."`
	PID          []named  `group:"arms" name:"pid" sep:"none" placeholder:"NAME=PID|@FILE" help:"Process whose processor time is counted, with its children: its number, or a file that holds it. May be repeated."`
	ArmHeader    []named  `group:"arms" sep:"none" placeholder:"NAME='FIELD: VALUE'" help:"Header field to send to this arm. May be repeated."`
}

// arms returns the arms of the file and of the command line, each with what the
// options say of it.
func (f *armFlags) arms(urls []named) ([]arm, error) {
	arms := slices.Clone(f.Arms.arms)
	for _, n := range urls {
		arms = append(arms, arm{name: n.name, url: n.value})
	}
	for _, o := range []struct {
		flag   string
		values []named
		set    func(a *arm, value string) error
	}{
		{"--setup", f.Setup, func(a *arm, v string) error { return once(&a.setup, v) }},
		{"--teardown", f.Teardown, func(a *arm, v string) error { return once(&a.teardown, v) }},
		{"--ready", f.Ready, func(a *arm, v string) error { return errors.Join(checkURL(v), once(&a.ready, v)) }},
		{"--pid", f.PID, func(a *arm, v string) (err error) {
			if a.process != (pidSource{}) {
				return errTwice
			}
			a.process, err = parseProcess(v)
			return err
		}},
		{"--arm-header", f.ArmHeader, func(a *arm, v string) error {
			var h header
			err := h.UnmarshalText([]byte(v))
			a.header = append(a.header, client.Header(h))
			return err
		}},
	} {
		for _, n := range o.values {
			i := slices.IndexFunc(arms, func(a arm) bool { return a.name == n.name })
			if i < 0 {
				return nil, fmt.Errorf("%s %s: want the name of an arm", o.flag, n.name)
			}
			if err := o.set(&arms[i], n.value); err != nil {
				return nil, fmt.Errorf("%s %s: %w", o.flag, n.name, err)
			}
		}
	}
	return arms, nil
}

var errTwice = errors.New("given twice, want one")

// once sets what may be set once.
func once(to *string, value string) error {
	if *to != "" {
		return errTwice
	}
	*to = value
	return nil
}
