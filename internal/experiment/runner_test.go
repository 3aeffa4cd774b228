package experiment

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"httpgen/internal/run"
)

// Whoever watches is told of each run before it begins and when it has ended.
func TestWatch(t *testing.T) {
	t.Parallel()
	var asked atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Store(true) }))
	defer s.Close()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	o := run.Options{Server: u.Hostname(), Port: port}
	refuse := Live{Watch: func(*run.Run) (func(), error) { return nil, errors.New("refused") }}
	if _, err := refuse.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "refused") || asked.Load() {
		t.Errorf("error %v, the server was asked: %v; want the watcher's, and no run", err, asked.Load())
	}
	var id string
	ended := 0
	m, err := Live{Watch: func(r *run.Run) (func(), error) {
		id = r.ID()
		if asked.Load() {
			t.Error("the run has begun before its watcher knew")
		}
		return func() { ended++ }, nil
	}}.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if m.Result.Run.ID != id || ended != 1 || !asked.Load() {
		t.Errorf("run %s ended %d times and asked: %v; want %s, 1, true", m.Result.Run.ID, ended, asked.Load(), id)
	}
}

// Progress tells of each trial when it begins and when it has ended.
func TestProgressBegins(t *testing.T) {
	t.Parallel()
	var told []string
	b := book{Lab: Lab{Progress: func(p Progress) {
		switch {
		case p.Begin != nil && p.Trial == nil && p.Begin.Result == nil:
			told = append(told, "begin "+strconv.Itoa(p.Begin.ID)+" "+p.Begin.Arm)
		case p.Begin == nil && p.Trial != nil:
			told = append(told, "end "+strconv.Itoa(p.Trial.ID)+" "+p.Trial.Arm)
		default:
			t.Errorf("have %+v", p)
		}
	}}}
	r := newCalls(t, 0, 1).r
	for _, arm := range []string{"a", "b"} {
		if _, err := b.do(t.Context(), job{trial: Trial{Arm: arm}, run: func() (Measurement, error) { return Measurement{Result: r}, nil }, judge: valid}); err != nil {
			t.Fatal(err)
		}
	}
	if have, want := strings.Join(told, ", "), "begin 1 a, end 1 a, begin 2 b, end 2 b"; have != want {
		t.Errorf("have %s, want %s", have, want)
	}
}
