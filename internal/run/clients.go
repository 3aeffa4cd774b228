package run

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"httpgen/internal/report"
)

// A Client is one of the clients of a run.
type Client struct {
	Name    string  // unique in the run
	Weight  float64 // share it is meant to get, relative to the others; 0 stands for 1
	Options Options
}

// NewClients is New for clients that begin together. What Options says of the
// whole run counts for all of them and is taken from the first client: Classic,
// Argv, Warmup, Drain, Window, Start, MaxInflight, Workers, Spin, CatchUp and Tap.
// The others leave these fields zero or give the same. All else is each client's
// own; random processes of the same seed draw the same arrivals.
func NewClients(clients []Client) (*Run, error) {
	if err := checkClients(clients); err != nil {
		return nil, err
	}
	r := &Run{id: newID()}
	for _, c := range clients {
		s, err := newStream(c)
		if err != nil {
			if len(clients) > 1 {
				err = fmt.Errorf("client %s: %w", c.Name, err)
			}
			return nil, err
		}
		r.streams = append(r.streams, s)
	}
	r.o = &r.streams[0].o
	if err := r.complete(); err != nil {
		return nil, err
	}
	return r, nil
}

func checkClients(clients []Client) error {
	if len(clients) == 0 {
		return errors.New("no clients: want at least one")
	}
	names := map[string]bool{}
	for i, c := range clients {
		switch {
		case c.Name == "" || names[c.Name]:
			return fmt.Errorf("client %d with the name %q: want a name of its own", i+1, c.Name)
		case !(c.Weight >= 0) || math.IsInf(c.Weight, 0):
			return fmt.Errorf("client %s: weight %g: want a number above 0", c.Name, c.Weight)
		}
		names[c.Name] = true
	}
	unset, first := (&Options{}).whole(), clients[0].Options.whole()
	for _, c := range clients[1:] {
		for i, own := range c.Options.whole() {
			if own != unset[i] && own != first[i] {
				return fmt.Errorf("client %s: %s %s, and client %s has %s: it is of the whole run, want the same or none", c.Name, own.name, own.value, clients[0].Name, first[i].value)
			}
		}
	}
	return nil
}

// A setting is a field of Options as text.
type setting struct{ name, value string }

// whole returns what concerns the whole run.
func (o *Options) whole() []setting {
	drain, tap := "none", "none"
	if o.Drain != nil {
		drain = o.Drain.String()
	}
	if o.Tap != nil {
		tap = fmt.Sprintf("%T at %[1]p", o.Tap)
	}
	return []setting{
		{"Classic", fmt.Sprint(o.Classic)}, {"Argv", fmt.Sprintf("%q", report.Redact(o.Argv))},
		{"Warmup", o.Warmup.String()}, {"Drain", drain}, {"Window", o.Window.String()}, {"Start", o.Start.Format(time.RFC3339Nano)},
		{"MaxInflight", fmt.Sprint(o.MaxInflight)}, {"Workers", fmt.Sprint(o.Workers)}, {"Spin", o.Spin.String()},
		{"CatchUp", o.CatchUp.String()}, {"Tap", tap},
	}
}

// several says whether the run has more than one client.
func (r *Run) several() bool { return len(r.streams) > 1 }

// label is what a line about s begins with.
func (r *Run) label(s *stream) string {
	if r.several() {
		return s.name + ": "
	}
	return ""
}

// refused makes an error of the client package one that a user reads. A user with
// one client knows nothing of streams.
func (r *Run) refused(err error) error {
	err = trim(err)
	text, ok := strings.CutPrefix(err.Error(), "stream ")
	switch {
	case !ok:
		return err
	case r.several():
		return errors.New("client " + text)
	}
	return errors.New(strings.TrimPrefix(text, r.streams[0].name+": "))
}
