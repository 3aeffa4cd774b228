package run

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"httpgen/client"
	"httpgen/internal/script"
)

// A host is one of those that the run goes to.
type host struct {
	name   string
	port   int
	weight int
}

// schemes makes TLS of what a file asks for with https.
func (o *Options) schemes() error {
	for i := range o.Requests {
		q := &o.Requests[i]
		switch {
		case q.Scheme == "https" && o.TLS == nil && i == 0:
			o.TLS = &TLS{}
		case q.Scheme == "https" && o.TLS == nil, q.Scheme == "http" && o.TLS != nil:
			return fmt.Errorf("%s: a %s URL among others: want one scheme for all of them", o.place(q), q.Scheme)
		}
	}
	return nil
}

// servers returns where the run goes: the servers of a list, or those that the
// requests of a file name, or the one that Server and Port name.
func (o *Options) servers() (all []host, index map[string]int, err error) {
	if len(o.Servers) > 0 {
		for _, s := range o.Servers {
			all = append(all, host{s.Host, cmp.Or(s.Port, o.Port), max(1, s.Weight)})
		}
		return all, nil, nil
	}
	index = map[string]int{}
	for i := range o.Requests {
		q := &o.Requests[i]
		if _, ok := index[q.Host]; ok {
			continue
		}
		s, err := o.named(q)
		if err != nil {
			return nil, nil, err
		}
		// The default server may be named, or named in several ways.
		at := slices.Index(all, s)
		if at < 0 {
			at = len(all)
			all = append(all, s)
		}
		index[q.Host] = at
	}
	if all == nil {
		all = []host{{o.Server, o.Port, 1}}
	}
	return all, index, nil
}

// named returns the server that a request of a file goes to.
func (o *Options) named(q *script.Request) (host, error) {
	if q.Host == "" {
		return host{o.Server, o.Port, 1}, nil
	}
	s := host{q.Host, o.defaultPort(), 1}
	if host, port, ok := splitPort(q.Host); ok {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return s, fmt.Errorf("%s: port %q: want 1 to 65535", o.place(q), port)
		}
		s.name, s.port = host, int(n)
	}
	return s, nil
}

// splitPort takes a port off an authority, if it has one.
func splitPort(authority string) (host, port string, ok bool) {
	i := strings.LastIndexByte(authority, ':')
	if i < 0 || strings.HasSuffix(authority, "]") || !strings.HasPrefix(authority, "[") && strings.Count(authority, ":") > 1 {
		return authority, "", false
	}
	return authority[:i], authority[i+1:], true
}

// place names the line of a file that a request stands in.
func (o *Options) place(q *script.Request) string { return fmt.Sprintf("%s:%d", o.From, q.Line) }

// at returns o for one of several servers.
func (o *Options) at(s host) *Options {
	one := *o
	one.Server, one.Port, one.Servers = s.name, s.port, nil
	return &one
}

// targets resolves all servers.
func (o *Options) targets(all []host) ([]client.Target, error) {
	var targets []client.Target
	for _, s := range all {
		t, err := target(o.at(s))
		if err != nil {
			return nil, err
		}
		if o.TLS != nil && o.TLS.ServerName == "" {
			t.Name = strings.Trim(s.name, "[]")
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// checkServers refuses what several servers do not go together with.
func (o *Options) checkServers(all []host) error {
	switch {
	case len(all) == 1:
		return nil
	case o.Pool > 0 || o.KeepOpen:
		return fmt.Errorf("%d servers on kept-open connections: want one server, or new connections", len(all))
	case o.Unix != "":
		return errors.New("several servers and a unix socket: want one of them")
	case len(o.Requests) > 0 && o.NumCalls > 1:
		return fmt.Errorf("%s names %d servers, and %d calls are to share a connection: want one call", o.From, len(all), o.NumCalls)
	}
	return nil
}
