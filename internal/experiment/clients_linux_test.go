package experiment

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"httpgen/internal/run"
	"httpgen/internal/target"
)

// A fairness experiment against a server whose shares are known. What clients were
// to do and what the server did of it is exact; when it did so is not.
func TestFairAgainstKnownShares(t *testing.T) {
	t.Parallel()
	sources := []netip.Addr{netip.MustParseAddr("127.0.0.2"), netip.MustParseAddr("127.0.0.3"), netip.MustParseAddr("127.0.0.4")}
	weights := []int{1, 3, 6}
	var shares []target.Share
	for i, s := range sources {
		shares = append(shares, target.Share{Source: s, Weight: weights[i]})
	}
	server, err := target.Start(target.Options{Capacity: 400, Shares: shares})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	o := FairOptions{Duration: 1500 * time.Millisecond}
	for i, name := range []string{"a", "b", "c"} {
		o.Clients = append(o.Clients, Client{
			Name: name, Weight: float64(weights[i]), Rate: 500,
			Options: run.Options{Server: "127.0.0.1", Port: server.Port(), URI: "/" + name, Sources: sources[i : i+1]},
		})
	}
	watched := 0
	live := Live{Watch: func(r *run.Run) (func(), error) {
		for i, s := range r.Description().Streams {
			if s.Name != o.Clients[i].Name || s.Weight != o.Clients[i].Weight || s.Rate == nil {
				t.Errorf("stream %d is shown as %+v", i, s)
			}
		}
		return func() { watched++ }, nil
	}}
	res, err := Lab{Runner: live, Clients: live}.Fair(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := compile(t, "fair-1").Validate(asDocument(t, res)); err != nil {
		t.Error(err)
	}
	if watched != 1 || len(res.Trials) != 1 || !res.Run.Complete {
		t.Fatalf("%d runs watched, %d trials, complete %v: want 1, 1, true", watched, len(res.Trials), res.Run.Complete)
	}
	stats := server.Stop()
	for i := range res.Clients {
		c := &res.Clients[i]
		to, served := &c.Totals, stats.Sources[sources[i]]
		if to.Arrivals.Scheduled != 750 || c.Target != server.URL()+c.Name || c.Source != sources[i].String() {
			t.Errorf("client %s: %d arrivals to %s from %s: want 750 to %s%s from %s", c.Name, to.Arrivals.Scheduled, c.Target, c.Source, server.URL(), c.Name, sources[i])
		}
		if served.Requests != to.Requests || served.Replies != to.Replies || served.Resets != to.Errors.Reset || to.Replies+to.Errors.Reset != to.Arrivals.Started {
			t.Errorf("client %s: %d requests, %d replies, %d resets: the server counts %+v", c.Name, to.Requests, to.Replies, to.Errors.Reset, served)
		}
		if i > 0 && res.Saturated && c.Share <= res.Clients[i-1].Share {
			t.Errorf("client %s has a share of %g, %s with less weight %g", c.Name, c.Share, res.Clients[i-1].Name, res.Clients[i-1].Share)
		}
	}
}

func TestClientsThatCannotRun(t *testing.T) {
	t.Parallel()
	good := Client{Name: "a", Options: run.Options{Server: "127.0.0.1", NumConns: 1}}
	if _, err := (Live{}).RunClients(t.Context(), []Client{good, {Name: "b", Options: run.Options{Port: -1}}}); err == nil || !strings.HasPrefix(err.Error(), "experiment: client b: port -1") {
		t.Errorf("RunClients = %v, want an error about the port of client b", err)
	}
	refuse := errors.New("not now")
	watching := Live{Watch: func(*run.Run) (func(), error) { return nil, refuse }}
	if _, err := watching.RunClients(t.Context(), []Client{good}); !errors.Is(err, refuse) {
		t.Errorf("RunClients = %v, want %v", err, refuse)
	}
}
