package push

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/snappy"
	"github.com/prometheus/client_golang/prometheus"
)

// counted gathers one counter.
func counted() prometheus.Gatherer {
	r := prometheus.NewRegistry()
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: "c_total"})
	c.Add(42)
	r.MustRegister(c)
	return r
}

// Over a real connection: the credentials arrive, and a receiver that quotes
// them in every way finds them in no error.
func TestCredentials(t *testing.T) {
	t.Parallel()
	const canary = "canary-5ecret"
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("me:"+canary))
	for _, tt := range []struct {
		name   string
		a      Auth
		header string
		want   string
	}{
		{"basic", Auth{BasicUser: "me", PasswordFile: secretFile(t, canary+"\n")}, "Authorization", basic},
		{"bearer", Auth{BearerFile: secretFile(t, canary)}, "Authorization", "Bearer " + canary},
		{"header", Auth{HeaderFile: secretFile(t, "X-Key: "+canary)}, "X-Key", canary},
	} {
		for _, o := range []Options{{RemoteWrite: "set"}, {Pushgateway: "set"}} {
			t.Run(fmt.Sprintf("%s %t", tt.name, o.RemoteWrite == ""), func(t *testing.T) {
				t.Parallel()
				var requests atomic.Int64
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					got := r.Header.Get(tt.header)
					if got != tt.want {
						t.Errorf("%s %q, want %q", tt.header, got, tt.want)
					}
					switch requests.Add(1) {
					case 1:
						w.Header().Set("X-Echo", got)
						http.Error(w, strings.Repeat("x", 500)+got+" "+canary, http.StatusInternalServerError)
					case 2: // a status line that is none
						conn, buf, err := http.NewResponseController(w).Hijack()
						if err != nil {
							t.Error(err)
							return
						}
						fmt.Fprintf(buf, "%s %s\r\n\r\n", got, canary)
						buf.Flush()
						conn.Close()
					default:
						http.Error(w, got, http.StatusBadRequest)
					}
				}))
				defer s.Close()
				if o.RemoteWrite != "" {
					o.RemoteWrite = s.URL
				} else {
					o.Pushgateway = s.URL
				}
				o.Auth = tt.a
				p, err := newPusher(o, counted(), noEnv, newBase())
				if err != nil {
					t.Fatal(err)
				}
				var all []string
				p.receiver = &spy{p.receiver, func(err error) { all = append(all, p.transport.show("x", err).Error()) }}
				lost := p.Finish(t.Context())
				if lost == nil || requests.Load() < 3 {
					t.Fatalf("%d requests, Finish: %v, want three failures", requests.Load(), lost)
				}
				for _, text := range append(all, lost.Error(), p.FirstError().Error()) {
					for _, secret := range []string{canary, strings.TrimPrefix(basic, "Basic ")} {
						if strings.Contains(text, secret) {
							t.Errorf("an error quotes the credentials: %s", text)
						}
					}
				}
				if !strings.Contains(p.FirstError().Error(), "500") {
					t.Errorf("first error %v, want the status to be seen", p.FirstError())
				}
			})
		}
	}
}

// A spy is a receiver that tells all failures.
type spy struct {
	receiver
	tell func(error)
}

func (s *spy) send(ctx context.Context, b batch, failed func(error)) error {
	err := s.receiver.send(ctx, b, func(err error) {
		s.tell(err)
		failed(err)
	})
	if err != nil {
		s.tell(err)
	}
	return err
}

// A redirect is an answer, and nothing goes to where it points.
func TestRedirect(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				t.Error("a request went to the other host")
			}))
			defer other.Close()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, other.URL, status)
			}))
			defer s.Close()
			p, err := newPusher(Options{RemoteWrite: s.URL, Auth: Auth{BearerFile: secretFile(t, "canary")}}, counted(), noEnv, newBase())
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Finish(t.Context()); err == nil || !strings.Contains(err.Error(), fmt.Sprint(status)) || !strings.Contains(err.Error(), "redirects are not followed") {
				t.Errorf("Finish: %v, want the redirect to be refused", err)
			}
		})
	}
}

// Replies without end are read up to a bound, also those that are a success.
func TestEndlessReply(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 400} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				w.WriteHeader(status)
				for err := error(nil); err == nil; {
					_, err = w.Write(make([]byte, 1<<16))
				}
			}))
			defer s.Close()
			p, err := newPusher(Options{RemoteWrite: s.URL}, counted(), noEnv, newBase())
			if err != nil {
				t.Fatal(err)
			}
			err = p.Finish(t.Context())
			if (err == nil) != (status == 200) || err != nil && len(err.Error()) > 2*maxShown {
				t.Errorf("Finish: %.2000v, want a short error if the status is none of success", err)
			}
		})
	}
}

// Over a real connection, one for all requests.
func TestOneConnection(t *testing.T) {
	t.Parallel()
	var connections atomic.Int64
	points := make(chan point, 10)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		message, err := snappy.Decode(nil, body)
		if err != nil {
			t.Error(err)
		}
		decoded, err := decode(message)
		if err != nil {
			t.Error(err)
		}
		for _, p := range decoded {
			points <- p
		}
		fmt.Fprintln(w, "thank you")
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	p, err := newPusher(Options{RemoteWrite: s.URL, Interval: minInterval}, counted(), noEnv, newBase())
	if err != nil {
		t.Fatal(err)
	}
	done := run(t.Context(), p)
	if first := <-points; first.value != 42 {
		t.Errorf("first value %v, want 42", first)
	}
	if err := p.Finish(t.Context()); err != nil {
		t.Errorf("Finish: %v", err)
	}
	<-done
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"", "0", "1", "-1", "3600", "99999999999999999999", "1e9", "Sat, 01 Jan 2000 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d := retryAfter(s); d < 0 || d > maxRetryAfter || d%time.Second != 0 {
			t.Errorf("%q: %v, want 0 to %v in whole seconds", s, d, maxRetryAfter)
		}
	})
}

// Whatever is before and after it, what precedes an @ of a URL that is refused
// is not shown.
func FuzzURL(f *testing.F) {
	f.Add("http://", "h")
	f.Add("https://me:", "h:1/a?b#c")
	f.Add("me:", "h:9090")
	f.Add("http://me:a/b", "h:x")
	f.Add("http://h/a", "b")
	f.Fuzz(func(t *testing.T, before, after string) {
		const canary = "c4nary"
		if strings.Contains(before+after, canary) {
			return
		}
		s := before + canary + "@" + after
		u, err := parseURL("RemoteWrite", s)
		switch {
		case err != nil && strings.Contains(err.Error(), canary):
			t.Errorf("the error for %q shows it: %v", s, err)
		case err == nil && (u.Hostname() == "" || u.User != nil):
			t.Errorf("%q is accepted as %q", s, u)
		}
	})
}
