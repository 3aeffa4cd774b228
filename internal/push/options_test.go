package push

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	const url = "http://localhost:9090/api/v1/write"
	for _, tt := range []struct {
		name string
		o    Options
		want string
	}{
		{"nothing", Options{}, "neither RemoteWrite nor Pushgateway is given"},
		{"both", Options{RemoteWrite: url, Pushgateway: url}, "want a Pusher for each"},
		{"no scheme", Options{RemoteWrite: "localhost:9090"}, `RemoteWrite "localhost:9090": want http://HOST`},
		{"scheme", Options{RemoteWrite: "ftp://h/"}, `"ftp://h/"`},
		{"no host", Options{RemoteWrite: "http:///x?token=canary"}, `"http:///x"`},
		{"port", Options{RemoteWrite: "http://h:x/"}, `"http://h:x/"`},
		{"fragment", Options{Pushgateway: "http://h/#a"}, `Pushgateway "http://h/#a"`},
		{"password", Options{RemoteWrite: "http://me:canary@h/"}, "RemoteWrite holds a user or a password"},
		{"user", Options{Pushgateway: "http://canary@h/"}, "Pushgateway holds a user or a password"},
		{"broken password", Options{RemoteWrite: "http://me:canary/canary@h:x/%zz"}, "RemoteWrite is not a URL, and not shown because of its @"},
		{"password without a scheme", Options{RemoteWrite: "me:canary@h:9090/"}, "RemoteWrite is not a URL, and not shown because of its @"},
		{"gateway query", Options{Pushgateway: "http://h/?token=canary"}, `Pushgateway "http://h/": want a URL without a query`},
		{"gateway native", Options{Pushgateway: "http://h/", Native: true}, "Native with Pushgateway"},
		{"interval", Options{RemoteWrite: url, Interval: time.Millisecond}, "Interval 1ms: want at least 100ms"},
		{"timeout", Options{RemoteWrite: url, Timeout: -1}, "Timeout -1ns: want more than 0"},
		{"instance", Options{RemoteWrite: url, Instance: " "}, `label instance=" ": want a value that is not blank`},
		{"label value", Options{RemoteWrite: url, Labels: map[string]string{"a": ""}}, `label a=""`},
		{"label text", Options{RemoteWrite: url, RunID: "\xff"}, `label run_id="\xff"`},
		{"label name", Options{RemoteWrite: url, Labels: map[string]string{"0a": "b"}}, `label "0a": want a name of letters`},
		{"reserved", Options{RemoteWrite: url, Labels: map[string]string{"__a": "b"}}, `label "__a": want another name`},
		{"le", Options{RemoteWrite: url, Labels: map[string]string{"le": "b"}}, `label "le": want another name`},
		{"job", Options{RemoteWrite: url, Labels: map[string]string{"job": "b"}}, `label "job": want it in its own field`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := New(tt.o, prometheus.NewRegistry())
			if err == nil || !strings.HasPrefix(err.Error(), "push: ") || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "canary") {
				t.Errorf("got %v, want %q and no canary", err, tt.want)
			}
		})
	}
	if _, err := New(Options{RemoteWrite: url}, nil); err == nil {
		t.Error("no gatherer is accepted")
	}
}

// The receiver is sent to as it was written, and no error shows its query.
func TestURLAsWritten(t *testing.T) {
	t.Parallel()
	const url = "http://receiver.example/a%2Fb/@/?token=canary"
	f := &fakeReceiver{t: t, answer: always(400)}
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: "c_total"})
	r := prometheus.NewRegistry()
	r.MustRegister(c)
	p, err := newPusher(Options{RemoteWrite: url}, r, noEnv, f)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Finish(t.Context()); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("Finish: %v, want an error without the query", err)
	}
	if got := f.requests[0].url; got != url {
		t.Errorf("sent to %s, want %s", got, url)
	}
}
