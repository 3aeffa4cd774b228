package prom

import (
	"fmt"
	"time"
	"unicode/utf8"

	"httpgen/sampler"
)

// Options configures a Collector. Every field may be left zero.
type Options struct {
	Version string // of the program
}

// An Info describes a run. Every field may be left zero.
type Info struct {
	ID          string        // the run's identifier
	Process     string        // how the arrivals are spread, such as "poisson"
	Engine      string        // what moves the bytes
	Closed      bool          // the model is closed: arrivals cannot be late
	Warmup      time.Duration // at the beginning of the run
	Planned     time.Duration // from the start to the last planned arrival, warm-up included; 0 is not known
	MaxInflight int           // bound of arrivals in flight, 0 is none
	Streams     []Stream      // one for each of the sampler's, in its order; none: all are zero
}

// A Stream describes one stream of a run. Every field may be left zero. Streams
// with the same client and target are shown as one.
type Stream struct {
	Client string  // default the stream's name in the sampler
	Target string  // a name, never a URL or an address; default "1"
	Weight float64 // the client's configured share, in any unit; default 1
	Judged bool    // replies are compared with an expected status: goodput counts those that were as expected
	// Rate returns the target rate at an offset from the start, in arrivals per
	// second. Any goroutine may call it. Without one the rate is shown as 0.
	Rate func(at time.Duration) float64
}

// maxName is the greatest length of a label value in bytes.
const maxName = 128

// checkName returns an error unless v can be a label value.
func checkName(what, v string) error {
	if len(v) > maxName || !utf8.ValidString(v) {
		return fmt.Errorf("prom: %s %.140q: want valid UTF-8 of at most %d bytes", what, v, maxName)
	}
	return nil
}

// validate fills the defaults. The streams are copied before they are changed.
func (i *Info) validate(names []string) error {
	if len(i.Streams) > 0 && len(i.Streams) != len(names) {
		return fmt.Errorf("prom: %d streams: want %d, as many as the sampler has", len(i.Streams), len(names))
	}
	if i.Warmup < 0 || i.Planned < 0 || i.MaxInflight < 0 {
		return fmt.Errorf("prom: warm-up %v, planned %v, bound of %d in flight: want none below 0", i.Warmup, i.Planned, i.MaxInflight)
	}
	streams := make([]Stream, len(names))
	copy(streams, i.Streams)
	i.Streams = streams
	for k := range streams {
		s := &streams[k]
		if s.Client == "" {
			s.Client = names[k]
		}
		if s.Target == "" {
			s.Target = "1"
		}
		if s.Weight == 0 {
			s.Weight = 1
		}
		if !(s.Weight > 0) {
			return fmt.Errorf("prom: weight %v of client %q: want more than 0", s.Weight, s.Client)
		}
	}
	for _, v := range []struct{ what, text string }{{"run", i.ID}, {"process", i.Process}, {"engine", i.Engine}} {
		if err := checkName(v.what, v.text); err != nil {
			return err
		}
	}
	for k := range streams {
		if err := checkName("client", streams[k].Client); err != nil {
			return err
		}
		if err := checkName("target", streams[k].Target); err != nil {
			return err
		}
	}
	return nil
}

// namesOf returns the names of a sampler's streams.
func namesOf(s *sampler.Sampler) (names []string) {
	s.View(func(v *sampler.View) {
		for i := range v.Streams {
			names = append(names, v.Streams[i].Name)
		}
	})
	return names
}
