package run

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// A server tells clients apart by their source addresses, each of which has its
// own local ports.
func TestClientsComeFromTheirSources(t *testing.T) {
	t.Parallel()
	var asked seen
	host, port := server(t, func(w http.ResponseWriter, r *http.Request) {
		from, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil {
			t.Errorf("remote address %q: %v", r.RemoteAddr, err)
		}
		asked.add(r.URL.Path + " from " + from.Addr().String())
	})
	of := func(name, rate string, n uint64, sources ...string) Client {
		o := Options{Server: host, Port: port, URI: "/" + name, Process: parse(t, rate), NumConns: n}
		for _, s := range sources {
			o.Sources = append(o.Sources, netip.MustParseAddr(s))
		}
		return Client{name, 1, o}
	}
	clients := []Client{of("a", "200", 20, "127.0.0.2"), of("b", "400", 40, "127.0.0.3"), of("c", "600", 60, "127.0.0.4", "127.0.0.5")}
	res := together(t, clients...)
	want := map[string]int{"/a from 127.0.0.2": 20, "/b from 127.0.0.3": 40, "/c from 127.0.0.4": 30, "/c from 127.0.0.5": 30}
	if fmt.Sprint(asked.n) != fmt.Sprint(want) || res.Totals.Completed != 120 {
		t.Errorf("the server was asked for %v, %d completed: want %v, 120", asked.n, res.Totals.Completed, want)
	}
	if have := strings.Join(res.Config.Sources, " "); have != "127.0.0.2 127.0.0.3 127.0.0.4 127.0.0.5" {
		t.Errorf("sources %s", have)
	}
	r, err := NewClients(clients)
	if err != nil {
		t.Fatal(err)
	}
	header := strings.Join(r.Plan().Header, "\n")
	for _, want := range []string{" from 127.0.0.2 (no timeout)\n", " from 127.0.0.3 (", " from 2 source addresses ("} {
		if !strings.Contains(header, want) {
			t.Errorf("plan:\n%s\n%q is missing", header, want)
		}
	}
}

// Clients compete for the ports of a source address that they share; of several
// the busiest one counts.
func TestClientsCompeteForPorts(t *testing.T) {
	t.Parallel()
	of := func(name, rate string, sources ...string) Client {
		o := Options{Server: "127.0.0.1", Process: parse(t, rate), Duration: time.Second, CloseMode: "fin"}
		for _, s := range sources {
			o.Sources = append(o.Sources, netip.MustParseAddr(s))
		}
		return Client{name, 1, o}
	}
	r, err := NewClients([]Client{
		of("a", "100", "127.0.0.2"), of("b", "60", "127.0.0.2", "127.0.0.3"), of("c", "50", "127.0.0.3", "127.0.0.4"), of("d", "10"), of("e", "20"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		rate   float64
		others int
	}{{100 + 30, 1}, {60 + 2*100, 2}, {50 + 2*30, 1}, {30, 1}, {30, 1}} {
		if rate, others := r.competing(r.streams[i], true); rate != want.rate || others != want.others {
			t.Errorf("client %s: %g connections/s with those of %d others, want %g, %d", r.streams[i].name, rate, others, want.rate, want.others)
		}
	}
	// What is closed by reset takes ports only while it is open.
	r.streams[0].o.CloseMode = "rst"
	for closed, want := range map[bool]float64{true: 60 + 2*25, false: 60 + 2*100} {
		if rate, _ := r.competing(r.streams[1], closed); rate != want {
			t.Errorf("closed %v: %g connections/s, want %g", closed, rate, want)
		}
	}
}
