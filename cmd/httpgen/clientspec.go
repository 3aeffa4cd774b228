package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"httpgen/client"
)

// A clientSpec is what was asked for of one of several clients. A field left zero
// was not given.
type clientSpec struct {
	name    string
	rate    float64
	weight  float64
	url     string
	sources []string // lists, as in --myaddr
	header  []client.Header
	join    time.Duration
	leave   time.Duration
}

const wantClient = "want name=NAME,rate=N,weight=N,source=ADDR,url=URL,header=FIELD: VALUE,join=TIME,leave=TIME; all but the name may be left out"

// fieldStart is where a field of a client begins. A comma that no field follows
// is part of the value before it.
var fieldStart = regexp.MustCompile(`(?:^|,)(name|rate|weight|source|url|header|join|leave)=`)

// clientFields returns the fields of a client, in order.
func clientFields(s string) (fields []named, ok bool) {
	at := fieldStart.FindAllStringSubmatchIndex(s, -1)
	for i, m := range at {
		end := len(s)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		fields = append(fields, named{s[m[2]:m[3]], s[m[1]:end]})
	}
	return fields, len(at) > 0 && at[0][2] == 0
}

func (c *clientSpec) UnmarshalText(b []byte) error {
	fields, ok := clientFields(string(b))
	if !ok {
		// What is there may hold a secret.
		return errors.New(wantClient)
	}
	*c = clientSpec{}
	seen := map[string]bool{}
	for _, f := range fields {
		if repeated := f.name == "header" || f.name == "source"; seen[f.name] && !repeated {
			return fmt.Errorf("%s=%s: %w", f.name, f.value, errTwice)
		}
		seen[f.name] = true
		if err := c.set(f.name, f.value); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	if c.name == "" {
		return errors.New("no name: " + wantClient)
	}
	return nil
}

func (c *clientSpec) set(field, value string) (err error) {
	switch field {
	case "name":
		c.name = value
	case "rate":
		err = (*quantity)(&c.rate).UnmarshalText([]byte(value))
	case "weight":
		err = (*quantity)(&c.weight).UnmarshalText([]byte(value))
	case "source":
		c.sources = append(c.sources, value)
	case "url":
		c.url, err = value, checkURL(value)
	case "header":
		var h header
		err = h.UnmarshalText([]byte(value))
		c.header = append(c.header, client.Header(h))
	case "join":
		err = (*span)(&c.join).UnmarshalText([]byte(value))
	case "leave":
		err = (*span)(&c.leave).UnmarshalText([]byte(value))
	}
	return err
}

// A clientsFile is --clients-file: a client a line.
type clientsFile struct{ clients []clientSpec }

func (f *clientsFile) UnmarshalText(b []byte) error {
	content, err := readFile(string(b))
	if err != nil {
		return err
	}
	f.clients, err = parseClients(string(b), string(content))
	return err
}

// parseClients reads the lines of a file.
func parseClients(name, content string) (clients []clientSpec, err error) {
	for i, line := range strings.Split(content, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		var c clientSpec
		if err := c.UnmarshalText([]byte(line)); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
		clients = append(clients, c)
	}
	if len(clients) == 0 {
		return nil, fmt.Errorf("%q: it holds no client, want one a line", name)
	}
	return clients, nil
}

// hideHeaders returns a command line without the values of header fields in
// clients, which only this program knows to look for.
func hideHeaders(argv []string) []string {
	argv = slices.Clone(argv)
	for i, arg := range argv {
		text, attached := strings.CutPrefix(arg, "--client=")
		fields, ok := clientFields(text)
		if !ok || !attached && (i == 0 || argv[i-1] != "--client") {
			continue
		}
		for k := range fields {
			f := &fields[k]
			if name, _, ok := strings.Cut(f.value, ":"); f.name == "header" && ok {
				f.value = name + ": ***"
			}
			fields[k].name += "="
		}
		var b strings.Builder
		for k, f := range fields {
			if k > 0 {
				b.WriteByte(',')
			}
			b.WriteString(f.name + f.value)
		}
		argv[i] = strings.TrimSuffix(arg, text) + b.String()
	}
	return argv
}
