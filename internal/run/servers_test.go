package run

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"httpgen/client"
	"httpgen/internal/script"
)

func TestServersOfRequests(t *testing.T) {
	t.Parallel()
	requests := func(scheme string, hosts ...string) (all []script.Request) {
		for i, h := range hosts {
			q := script.Request{URI: "/", Host: h, Line: i + 1}
			if h != "" {
				q.Scheme = scheme
			}
			all = append(all, q)
		}
		return all
	}
	for _, tt := range []struct {
		name string
		o    Options
		want string // "name port weight", and of each host in a request the index
		url  string
	}{
		{"none", Options{Server: "h"}, "[{h 80 1}] map[]", "http://h/"},
		{"TLS", Options{Server: "h", TLS: &TLS{}}, "[{h 443 1}] map[]", "https://h/"},
		{"list", Options{Servers: []script.Server{{Host: "127.0.0.1", Port: 81, Weight: 2}, {Host: "127.0.0.2", Weight: 1}}}, "[{127.0.0.1 81 2} {127.0.0.2 80 1}] map[]", "http://127.0.0.1:81/"},
		{"list with a port", Options{Port: 8080, Servers: []script.Server{{Host: "127.0.0.1"}}}, "[{127.0.0.1 8080 1}] map[]", "http://127.0.0.1:8080/"},
		{"requests", Options{Requests: requests("http", "127.0.0.1:81", "127.0.0.2", "127.0.0.1:81")}, "[{127.0.0.1 81 1} {127.0.0.2 80 1}] map[127.0.0.1:81:0 127.0.0.2:1]", "http://127.0.0.1:81/"},
		{"requests without a server", Options{Server: "127.0.0.1", Port: 81, Requests: requests("http", "", "127.0.0.1:81")}, "[{127.0.0.1 81 1}] map[:0 127.0.0.1:81:0]", "http://127.0.0.1:81/"},
		{"requests with TLS", Options{Requests: requests("https", "127.0.0.1", "127.0.0.1:443")}, "[{127.0.0.1 443 1}] map[127.0.0.1:0 127.0.0.1:443:0]", "https://127.0.0.1/"},
		{"requests with IPv6", Options{Requests: requests("http", "[::1]", "[::1]:81")}, "[{[::1] 80 1} {[::1] 81 1}] map[[::1]:0 [::1]:81:1]", "http://[::1]/"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := tt.o
			o.Resolve = []string{"h:*:127.0.0.1"}
			r := planned(t, o)
			if err := o.fill(); err != nil {
				t.Fatal(err)
			}
			all, index, err := o.servers()
			if err != nil {
				t.Fatal(err)
			}
			if have := fmt.Sprint(all, index); have != tt.want {
				t.Errorf("have %s, want %s", have, tt.want)
			}
			if have := r.streams[0].url(); have != tt.url || len(r.streams[0].targets) != len(all) {
				t.Errorf("%s and %d targets, want %s and %d", have, len(r.streams[0].targets), tt.url, len(all))
			}
		})
	}
}

func TestServersRefused(t *testing.T) {
	t.Parallel()
	two := []script.Server{{Host: "127.0.0.1"}, {Host: "127.0.0.2"}}
	mixed := []script.Request{{URI: "/", Scheme: "https", Host: "127.0.0.1", Line: 3}, {URI: "/", Scheme: "http", Host: "127.0.0.1", Line: 5}}
	named := []script.Request{{URI: "/", Host: "127.0.0.1", Line: 1}, {URI: "/", Host: "127.0.0.2", Line: 2}}
	for _, tt := range []struct {
		name, want string
		o          Options
	}{
		{"pool", "2 servers on kept-open connections", Options{Servers: two, Pool: 2, Process: parse(t, "5")}},
		{"kept open", "2 servers on kept-open connections", Options{Servers: two, Closed: 2, KeepOpen: true}},
		{"unix socket", "several servers and a unix socket", Options{Servers: two, Unix: "@s"}},
		{"requests", "2 servers and requests that name theirs", Options{Servers: two, Requests: named}},
		{"calls", "f names 2 servers, and 2 calls are to share a connection", Options{Requests: named, NumCalls: 2, From: "f"}},
		{"https, then http", "f:5: a http URL among others: want one scheme", Options{Requests: mixed, From: "f"}},
		{"http, then https", "f:3: a https URL among others: want one scheme", Options{Requests: []script.Request{mixed[1], mixed[0]}, From: "f"}},
		{"http with TLS", "f:5: a http URL among others: want one scheme", Options{Requests: mixed[1:], TLS: &TLS{}, From: "f"}},
		{"port", `f:7: port "99999": want 1 to 65535`, Options{Requests: []script.Request{{URI: "/", Host: "127.0.0.1:99999", Line: 7}}, From: "f"}},
		{"request", `f:7: method "GE T": want a token`, Options{Requests: []script.Request{{URI: "/", Method: "GE T", Line: 7}}, From: "f"}},
		{"name", `server "none.invalid"`, Options{Servers: []script.Server{{Host: "127.0.0.1"}, {Host: "none.invalid"}}, Resolve: []string{"none.invalid:81:127.0.0.1"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := New(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New = %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// Requests of a file go to the servers that they name, with their own fields in
// place of the run's.
func TestRequestsOnTheWire(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	record := func(name string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			asked = append(asked, strings.Join([]string{name, r.Method, r.RequestURI, r.Header.Get("A"), r.Header.Get("B"), r.Host[:9]}, " "))
			mu.Unlock()
			hello(w, r)
		}
	}
	first, firstPort := server(t, record("first"))
	second, secondPort := server(t, record("second"))
	res := do(t, Options{
		Server: first, Port: firstPort, NumConns: 4, Header: []client.Header{{Name: "A", Value: "all"}, {Name: "B", Value: "all"}},
		Requests: []script.Request{
			{Method: "GET", URI: "/a", Host: fmt.Sprintf("%s:%d", second, secondPort), Header: []script.Field{{Name: "a", Value: "own"}}, Line: 1},
			{URI: "/b", Line: 2},
			{Method: "PUT", URI: "/c", Host: fmt.Sprintf("%s:%d", first, firstPort), Body: []byte("x"), Line: 3},
		},
	})
	want := []string{"second GET /a own all 127.0.0.1", "first GET /b all all 127.0.0.1", "first PUT /c all all 127.0.0.1", "second GET /a own all 127.0.0.1"}
	if !slices.Equal(asked, want) || res.Config.Workload.Servers != 2 {
		t.Errorf("asked %q of %d servers, want %q of 2", asked, res.Config.Workload.Servers, want)
	}
}
