package client

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"httpgen/sampler"
)

// A site answers requests by their URI and notes what it was asked for.
type site struct {
	replies map[string]string                 // whole replies by URI, plainReply for all others
	answer  func(conn int, uri string) string // instead of replies, where it is set

	mu     sync.Mutex
	visits []string
	byConn [][]string
}

// hangUp is the reply that is none: the connection is closed.
const hangUp = "hang up"

// serve starts the site.
func (s *site) serve(t *testing.T, e engineCase) netip.AddrPort {
	t.Helper()
	return e.serve(t, func(c net.Conn, r *bufio.Reader) {
		s.mu.Lock()
		own := len(s.byConn)
		s.byConn = append(s.byConn, nil)
		s.mu.Unlock()
		for {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			body, err := io.ReadAll(req.Body)
			if err != nil {
				return
			}
			s.note(own, req, body)
			reply := cmp.Or(s.replies[req.RequestURI], plainReply)
			if s.answer != nil {
				reply = s.answer(own, req.RequestURI)
			}
			if reply == hangUp {
				return
			}
			if head, _, _ := strings.Cut(reply, "\r\n\r\n"); req.Method == "HEAD" {
				reply = head + "\r\n\r\n"
			}
			c.Write([]byte(reply))
			if strings.Contains(reply, "Connection: close") {
				return
			}
		}
	})
}

// note keeps what a request is known by: its method unless it is GET, its URI,
// then, where it has them, its cookies in <>, its type in () and its body.
func (s *site) note(conn int, r *http.Request, body []byte) {
	text := strings.TrimPrefix(r.Method+" "+r.RequestURI, "GET ")
	if c := r.Header.Values("Cookie"); len(c) > 0 {
		text += " <" + strings.Join(c, " AND ") + ">"
	}
	if c := r.Header.Get("Content-Type"); c != "" {
		text += " (" + c + ")"
	}
	if len(body) > 0 {
		text += " " + string(body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visits = append(s.visits, text)
	s.byConn[conn] = append(s.byConn[conn], text)
}

// check compares what the site was asked for, in that order.
func (s *site) check(t *testing.T, want string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := strings.Join(s.visits, ", "); have != want {
		t.Errorf("asked for %s; want %s", have, want)
	}
}

// with returns a reply that has some more header lines.
func with(lines ...string) string {
	return "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n" + strings.Join(lines, "\r\n") + "\r\n\r\nhello"
}

// moved returns a redirect.
func moved(status int, location string) string {
	return fmt.Sprintf("HTTP/1.1 %d Moved\r\nContent-Length: 2\r\nLocation: %s\r\n\r\nhi", status, location)
}

// page returns a reply of HTML for the embeds function.
func page(objects ...string) string {
	text := strings.Join(objects, "\n")
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
}

// embeds is the Objects of tests: a page names one object a line.
func embeds(_ *url.URL, page []byte) []string { return strings.Fields(string(page)) }

// gets returns a script of one session of requests like o: a burst for each text,
// which names its URIs.
func gets(t *testing.T, o RequestOptions, bursts ...string) *Script {
	t.Helper()
	var s ScriptSession
	for _, text := range bursts {
		var b Burst
		for _, uri := range strings.Fields(text) {
			o.URI, o.Host = uri, "test"
			b.Requests = append(b.Requests, request(t, o))
		}
		s.Bursts = append(s.Bursts, b)
	}
	return NewScript([]ScriptSession{s})
}

// browse carries out n sessions of b, each with one call at a time on one
// connection.
func browse(t *testing.T, e engineCase, s *site, b Browse, n uint64) *sampler.Totals {
	t.Helper()
	b.HTTPS = e.tls
	o := e.on(sessions(t, to(s.serve(t, e)), n, Calls{}, Sessions{MaxConns: 1, MaxPiped: 1}))
	o.Streams[0].Workload = &b
	return &do(t, o).All
}

func TestBrowseCookies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		replies map[string]string
		bursts  []string
		want    string
		secure  string // the same over TLS, where it is something else
	}{
		{"none", nil, []string{"/a", "/b"}, "/a, /b", ""},
		{"set", map[string]string{"/a": with("Set-Cookie: x=1")}, []string{"/a", "/b", "/c"}, "/a, /b <x=1>, /c <x=1>", ""},
		{"header in lower case", map[string]string{"/a": with("set-cookie:x=1")}, []string{"/a", "/b"}, "/a, /b <x=1>", ""},
		{"replaced", map[string]string{"/a": with("Set-Cookie: x=1"), "/b": with("Set-Cookie: x=2")}, []string{"/a", "/b", "/c"}, "/a, /b <x=1>, /c <x=2>", ""},
		{"deleted", map[string]string{"/a": with("Set-Cookie: x=1"), "/b": with("Set-Cookie: x=; Max-Age=0")}, []string{"/a", "/b", "/c"}, "/a, /b <x=1>, /c", ""},
		{"expired", map[string]string{"/a": with("Set-Cookie: x=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT")}, []string{"/a", "/b"}, "/a, /b", ""},
		{"expires late", map[string]string{"/a": with("Set-Cookie: x=1; Max-Age=3600; HttpOnly; SameSite=Lax")}, []string{"/a", "/b"}, "/a, /b <x=1>", ""},
		{"empty value", map[string]string{"/a": with("Set-Cookie: x=")}, []string{"/a", "/b"}, "/a, /b <x=>", ""},
		{"path", map[string]string{"/a": with("Set-Cookie: x=1; Path=/in")}, []string{"/a", "/in/b", "/inside", "/in", "/c"}, "/a, /in/b <x=1>, /inside, /in <x=1>, /c", ""},
		{"path by default", map[string]string{"/d/a?q": with("Set-Cookie: x=1")}, []string{"/d/a?q", "/d/b?/e", "/c?/d/"}, "/d/a?q, /d/b?/e <x=1>, /c?/d/", ""},
		{"longest path first", map[string]string{"/a": with("Set-Cookie: x=1; Path=/", "Set-Cookie: y=2; Path=/in")}, []string{"/a", "/in/b"}, "/a, /in/b <y=2; x=1>", ""},
		{"several", map[string]string{"/a": with("Set-Cookie: x=1", "Set-Cookie: y=2", "Set-Cookie: z=3")}, []string{"/a", "/b"}, "/a, /b <x=1; y=2; z=3>", ""},
		{"secure", map[string]string{"/a": with("Set-Cookie: x=1; Secure", "Set-Cookie: y=2")}, []string{"/a", "/b"}, "/a, /b <y=2>", "/a, /b <x=1; y=2>"},
		{"of another domain", map[string]string{"/a": with("Set-Cookie: x=1; Domain=example.com")}, []string{"/a", "/b"}, "/a, /b", ""},
		{"quoted", map[string]string{"/a": with(`Set-Cookie: x="1 2"`, "Set-Cookie: y=3, 4")}, []string{"/a", "/b"}, `/a, /b <x="1 2"; y=3, 4>`, ""},
		{"like a placeholder", map[string]string{"/a": with("Set-Cookie: x={seq}{rand}")}, []string{"/a", "/b"}, "/a, /b <x={seq}{rand}>", ""},
		{"set in a burst", map[string]string{"/b": with("Set-Cookie: x=1")}, []string{"/a /b /c", "/d /e"}, "/a, /b, /c, /d <x=1>, /e <x=1>", ""},
		{"on the next connection", map[string]string{"/a": with("Set-Cookie: x=1", "Connection: close")}, []string{"/a", "/b", "/c"}, "/a, /b <x=1>, /c <x=1>", ""},
		{"in an error reply", map[string]string{"/a": "HTTP/1.1 404 No\r\nSet-Cookie: x=1\r\nContent-Length: 0\r\n\r\n"}, []string{"/a", "/b"}, "/a, /b <x=1>", ""},
		{"in a trailer", map[string]string{"/a": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nSet-Cookie: x=1\r\n\r\n"}, []string{"/a", "/b"}, "/a, /b", ""},
		{"not cookies", map[string]string{"/a": with("Set-Cookie: x y=1", "Set-Cookie: =1", "Set-Cookie: x", "Set-Cookie:", "Set-Cookie: x=\xff", "Set-Cookie: x=a\"b", "Set-Cookie: ok=1")}, []string{"/a", "/b"}, "/a, /b <ok=1>", ""},
	} {
		for _, e := range engines {
			t.Run(tt.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				s := &site{replies: tt.replies}
				script := gets(t, RequestOptions{Header: []Header{{"X", "{seq}"}}, Expand: &Expand{}}, tt.bursts...)
				a := browse(t, e, s, Browse{Workload: script, Cookies: true}, 1)
				want := tt.want
				if e.tls && tt.secure != "" {
					want = tt.secure
				}
				s.check(t, want)
				if n := uint64(len(script.sessions[0])); a.Completed() != 1 || a.Planned != n || a.Replied != n {
					t.Errorf("outcomes %s, replied %d of %d: want 1 ok, %d of %d", outcomes(a), a.Replied, a.Planned, n, n)
				}
			})
		}
	}
}

// Cookies stay in their session.
func TestBrowseCookiesStayInTheirSession(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			s := &site{answer: func(conn int, _ string) string { return with(fmt.Sprintf("Set-Cookie: own=%d", conn)) }}
			o := e.on(plan(t, to(s.serve(t, e)), 40, Calls{Calls: 3}))
			o.Streams[0].Workload = &Browse{Workload: o.Streams[0].Workload, Cookies: true, HTTPS: e.tls}
			if a := do(t, o).All; a.Completed() != 40 || a.Replied != 120 {
				t.Errorf("outcomes %s, replied %d: want 40 ok, 120", outcomes(&a), a.Replied)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			for i, have := range s.byConn {
				own := fmt.Sprintf("/ <own=%d>", i)
				if want := []string{"/", own, own}; !slices.Equal(have, want) {
					t.Errorf("connection %d asked for %q, want %q", i, have, want)
				}
			}
		})
	}
}

func TestBrowseWithoutCookies(t *testing.T) {
	t.Parallel()
	s := &site{replies: map[string]string{"/a": with("Set-Cookie: x=1", "Location: /x")}}
	browse(t, engines[0], s, Browse{Workload: gets(t, RequestOptions{}, "/a", "/b")}, 1)
	s.check(t, "/a, /b")
}

// What a redirect of each kind makes of each method (RFC 9110, 15.4).
func TestBrowseRedirectMethods(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status int
		want   map[string]string // by method; "" is not followed
	}{
		{301, map[string]string{"GET": "/to (t) body", "POST": "/to", "HEAD": "HEAD /to (t) body", "PUT": "PUT /to (t) body"}},
		{302, map[string]string{"GET": "/to (t) body", "POST": "/to", "HEAD": "HEAD /to (t) body", "PUT": "PUT /to (t) body"}},
		{303, map[string]string{"GET": "/to", "POST": "/to", "HEAD": "HEAD /to", "PUT": "/to"}},
		{307, map[string]string{"GET": "/to (t) body", "POST": "POST /to (t) body", "HEAD": "HEAD /to (t) body", "PUT": "PUT /to (t) body"}},
		{308, map[string]string{"GET": "/to (t) body", "POST": "POST /to (t) body", "HEAD": "HEAD /to (t) body", "PUT": "PUT /to (t) body"}},
		{300, map[string]string{"GET": "", "POST": ""}},
		{304, map[string]string{"GET": ""}},
		{201, map[string]string{"POST": ""}},
		{200, map[string]string{"GET": ""}},
	} {
		for method, want := range tt.want {
			for _, e := range engines {
				t.Run(fmt.Sprintf("%d/%s/%s", tt.status, method, e.name), func(t *testing.T) {
					t.Parallel()
					reply := moved(tt.status, "/to")
					if tt.status == 304 {
						reply = strings.TrimSuffix(reply, "hi")
					}
					s := &site{replies: map[string]string{"/from": reply}}
					req := request(t, RequestOptions{Method: method, URI: "/from", Host: "test", Header: []Header{{"Content-Type", "t"}}, Body: []byte("body")})
					a := browse(t, e, s, Browse{Workload: &Calls{Request: req}, Follow: true}, 1)
					all, calls := strings.TrimPrefix(method+" /from (t) body", "GET "), uint64(1)
					if want != "" {
						all, calls = all+", "+want, 2
					}
					s.check(t, all)
					if a.Completed() != 1 || a.Planned != calls || a.Replied != calls {
						t.Errorf("outcomes %s, replied %d of %d: want 1 ok, %d of %d", outcomes(a), a.Replied, a.Planned, calls, calls)
					}
				})
			}
		}
	}
}

func TestBrowseLocations(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, host, location string
		want                 string // "" is not followed
	}{
		{"path", "test", "/to?a=b&c", "/to?a=b&c"},
		{"relative", "test", "to", "/d/to"},
		{"up", "test", "../to", "/to"},
		{"query", "test", "?x", "/d/from?x"},
		{"fragment", "test", "/to#part", "/to"},
		{"escapes", "test", "/a%2Fb%20c?%20", "/a%2Fb%20c?%20"},
		{"blanks", "test", "/a b?c d", "/a%20b?c%20d"},
		{"braces", "test", "/a?{seq}", "/a?{seq}"},
		{"absolute", "test", "SCHEME://test/to", "/to"},
		{"absolute, no path", "test", "SCHEME://test", "/"},
		{"absolute, upper case", "test", "SCHEME://TEST/to", "/to"},
		{"absolute, port of the scheme", "test", "SCHEME://test:DEFAULT/to", "/to"},
		{"absolute, port", "test:81", "SCHEME://test:81/to", "/to"},
		{"absolute, address", "[::1]:81", "SCHEME://[::1]:81/to", "/to"},
		{"same scheme", "test", "//test/to", "/to"},
		{"other host", "test", "SCHEME://other/to", ""},
		{"other host, same scheme", "test", "//other/to", ""},
		{"other port", "test", "SCHEME://test:82/to", ""},
		{"other scheme", "test", "ftp://test/to", ""},
		{"no authority", "test", "SCHEME:to", ""},
		{"not http", "test", "mailto:a@test", ""},
		{"not a URL", "test", "http://[/", ""},
		{"bad escape", "test", "/%zz", ""},
		{"empty", "test", "", ""},
	} {
		for _, e := range engines {
			t.Run(tt.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				location := strings.NewReplacer("SCHEME", "http", "DEFAULT", "80").Replace(tt.location)
				if e.tls {
					location = strings.NewReplacer("SCHEME", "https", "DEFAULT", "443").Replace(tt.location)
				}
				s := &site{replies: map[string]string{"/d/from": moved(302, location)}}
				req := request(t, RequestOptions{URI: "/d/from", Host: tt.host, Expand: &Expand{}})
				a := browse(t, e, s, Browse{Workload: &Calls{Request: req}, Follow: true}, 1)
				all := "/d/from"
				if tt.want != "" {
					all += ", " + tt.want
				}
				s.check(t, all)
				if a.Completed() != 1 || a.LostCalls != 0 || a.Planned != a.Replied {
					t.Errorf("outcomes %s, replied %d of %d: want 1 ok, all", outcomes(a), a.Replied, a.Planned)
				}
			})
		}
	}
}

func TestBrowseRedirects(t *testing.T) {
	t.Parallel()
	rounds := func(uri string, n int) string { return strings.Repeat(", "+uri, n)[2:] }
	twelve := map[string]string{}
	for i := range 12 {
		twelve[fmt.Sprintf("/%d", i)] = moved(302, fmt.Sprintf("/to%d", i))
	}
	for _, tt := range []struct {
		name    string
		replies map[string]string
		bursts  []string
		want    string
	}{
		{"chain", map[string]string{"/a": moved(301, "/b"), "/b": moved(307, "/c"), "/c": moved(303, "/d")}, []string{"/a", "/e"}, "/a, /b, /c, /d, /e"},
		{"loop", map[string]string{"/a": moved(302, "/a")}, []string{"/a"}, rounds("/a", 11)},
		{"loop, twice", map[string]string{"/a": moved(302, "/a")}, []string{"/a", "/b", "/a"}, rounds("/a", 11) + ", /b, " + rounds("/a", 11)},
		{"loops in a burst", map[string]string{"/a": moved(302, "/a"), "/b": moved(302, "/b")}, []string{"/x /a /b"}, "/x, " + rounds("/a, /b", 11)},
		{"after each other", twelve, []string{"/0", "/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8", "/9", "/10", "/11"},
			"/0, /to0, /1, /to1, /2, /to2, /3, /to3, /4, /to4, /5, /to5, /6, /to6, /7, /to7, /8, /to8, /9, /to9, /10, /to10, /11, /to11"},
		{"in a burst", twelve, []string{"/x /0 /1 /2 /3 /4 /5 /6 /7 /8 /9 /10 /11"},
			"/x, /0, /1, /2, /3, /4, /5, /6, /7, /8, /9, /10, /11, /to0, /to1, /to2, /to3, /to4, /to5, /to6, /to7, /to8, /to9, /to10, /to11"},
		{"on the next connection", map[string]string{"/a": strings.Replace(moved(302, "/b"), "Location", "Connection: close\r\nLocation", 1)}, []string{"/a", "/c"}, "/a, /b, /c"},
		{"to an error", map[string]string{"/a": moved(302, "/b"), "/b": busyReply}, []string{"/a", "/c"}, "/a, /b, /c"},
		{"with a cookie", map[string]string{"/a": strings.Replace(moved(302, "/b"), "Location", "Set-Cookie: x=1\r\nLocation", 1), "/b": moved(302, "/in/c"), "/in/c": with("Set-Cookie: x=2; Path=/in")},
			[]string{"/a", "/in/d"}, "/a, /b <x=1>, /in/c <x=1>, /in/d <x=2; x=1>"},
	} {
		for _, e := range engines {
			t.Run(tt.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				s := &site{replies: tt.replies}
				a := browse(t, e, s, Browse{Workload: gets(t, RequestOptions{}, tt.bursts...), Cookies: true, Follow: true}, 1)
				s.check(t, tt.want)
				// Redirects without end fail the arrival.
				outcome := sampler.OK
				if strings.Contains(tt.name, "loop") {
					outcome = sampler.UnexpectedStatus
				}
				if n := uint64(strings.Count(tt.want, ",") + 1); a.Outcomes[outcome] != 1 || a.Planned != n || a.Replied != n || a.LostCalls != 0 {
					t.Errorf("outcomes %s, replied %d of %d, lost %d: want 1 %v, %d of %d, 0", outcomes(a), a.Replied, a.Planned, a.LostCalls, outcome, n, n)
				}
			})
		}
	}
}

// Headers of the request that was redirected go along, also those that are
// different for each call; the numbers of further calls stay the workload's.
func TestBrowseRedirectKeepsHeaders(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			s := &site{replies: map[string]string{"/0": moved(307, "/b"), "/1": moved(303, "/b")}}
			req := request(t, RequestOptions{Method: "POST", URI: "/{seq}", Host: "test", Header: []Header{{"Cookie", "own=1"}, {"Content-Type", "{seq}"}}, Body: []byte("{seq}"), Expand: &Expand{}})
			a := browse(t, e, s, Browse{Workload: &Calls{Request: req, Calls: 2}, Follow: true}, 2)
			s.mu.Lock()
			slices.Sort(s.visits)
			s.mu.Unlock()
			s.check(t, "/b <own=1>, POST /0 <own=1> (0) {seq}, POST /1 <own=1> (1) {seq}, POST /2 <own=1> (2) {seq}, POST /3 <own=1> (3) {seq}, POST /b <own=1> (0) {seq}")
			if a.Completed() != 2 || a.Planned != 6 || a.Replied != 6 {
				t.Errorf("outcomes %s, replied %d of %d: want 2 ok, 6 of 6", outcomes(a), a.Replied, a.Planned)
			}
		})
	}
}

// The server is known by the Host header that is sent.
func TestBrowseOwnHost(t *testing.T) {
	t.Parallel()
	s := &site{replies: map[string]string{"/a": moved(302, "http://www.test/b")}}
	req := request(t, RequestOptions{URI: "/a", Host: "127.0.0.1:1", Header: []Header{{"host", "www.test"}}})
	browse(t, engines[0], s, Browse{Workload: &Calls{Request: req}, Follow: true}, 1)
	s.check(t, "/a, /b")
}

func TestBrowseObjects(t *testing.T) {
	t.Parallel()
	typed := func(contentType string) string {
		return strings.Replace(page("/o"), "text/html; charset=utf-8", contentType, 1)
	}
	for _, tt := range []struct {
		name    string
		replies map[string]string
		bursts  []string
		want    string
	}{
		{"of a page", map[string]string{"/a": page("/1", "/2", "/3"), "/c": page("/1")}, []string{"/a", "/b", "/c"}, "/a, /1, /2, /3, /b, /c, /1"},
		{"of no page", map[string]string{"/a": page()}, []string{"/a", "/b"}, "/a, /b"},
		{"not of objects", map[string]string{"/a": page("/1", "/2"), "/1": page("/3")}, []string{"/a", "/b"}, "/a, /1, /2, /b"},
		{"not of redirected objects", map[string]string{"/a": page("/1", "/2"), "/1": moved(302, "/3"), "/3": page("/4")}, []string{"/a", "/b"}, "/a, /1, /2, /3, /b"},
		{"of a redirected page", map[string]string{"/a": moved(302, "/b"), "/b": page("/1", "/2")}, []string{"/a", "/c"}, "/a, /b, /1, /2, /c"},
		{"an object that is a page too", map[string]string{"/a": page("/b"), "/b": page("/1")}, []string{"/a", "/b"}, "/a, /b, /b, /1"},
		{"of pages of a burst", map[string]string{"/b": page("/1", "/2"), "/d": page("/3")}, []string{"/a /b /c /d", "/e"}, "/a, /b, /c, /d, /1, /2, /3, /e"},
		{"before a burst goes on", map[string]string{"/a": page("/1")}, []string{"/a /b /c"}, "/a, /1, /b, /c"},
		{"upper case", map[string]string{"/a": typed("Text/HTML")}, []string{"/a", "/b"}, "/a, /o, /b"},
		{"of text", map[string]string{"/a": typed("text/plain")}, []string{"/a", "/b"}, "/a, /b"},
		{"of XML", map[string]string{"/a": typed("application/xml; like=text/html")}, []string{"/a", "/b"}, "/a, /b"},
		{"of no type", map[string]string{"/a": strings.Replace(page("/1"), "Content-Type", "X", 1)}, []string{"/a", "/b"}, "/a, /b"},
		{"of an error", map[string]string{"/a": strings.Replace(page("/1"), "200 OK", "404 No", 1)}, []string{"/a", "/b"}, "/a, /b"},
		{"with cookies", map[string]string{"/a": strings.Replace(page("/1"), "Content-Type", "Set-Cookie: x=1\r\nContent-Type", 1), "/1": with("Set-Cookie: y=2")}, []string{"/a", "/b"}, "/a, /1 <x=1>, /b <x=1; y=2>"},
		{"on the next connection", map[string]string{"/a": strings.Replace(page("/1", "/2"), "Content-Type", "Connection: close\r\nContent-Type", 1)}, []string{"/a", "/b"}, "/a, /1, /2, /b"},
	} {
		for _, e := range engines {
			t.Run(tt.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				s := &site{replies: tt.replies}
				a := browse(t, e, s, Browse{Workload: gets(t, RequestOptions{}, tt.bursts...), Cookies: true, Follow: true, Objects: embeds}, 1)
				s.check(t, tt.want)
				// Redirects without end fail the arrival.
				outcome := sampler.OK
				if strings.Contains(tt.name, "loop") {
					outcome = sampler.UnexpectedStatus
				}
				if n := uint64(strings.Count(tt.want, ",") + 1); a.Outcomes[outcome] != 1 || a.Planned != n || a.Replied != n || a.LostCalls != 0 {
					t.Errorf("outcomes %s, replied %d of %d, lost %d: want 1 ok, %d of %d, 0", outcomes(a), a.Replied, a.Planned, a.LostCalls, n, n)
				}
			})
		}
	}
}

// Objects is called with the URL of the page and all of it. Of what it returns the
// URIs that no request line can hold are left out.
func TestBrowseObjectsArguments(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			big := strings.Repeat("/o ", 100000)
			s := &site{replies: map[string]string{"/d/a?q": page(big)}}
			var base, body string
			look := func(u *url.URL, page []byte) []string {
				base, body = u.String(), string(page)
				return []string{"/1 2?3 4", "/a\r\nX: y", "", "/\x7f", "/5"}
			}
			browse(t, e, s, Browse{Workload: gets(t, RequestOptions{}, "/d/a?q"), Objects: look}, 1)
			want := "http://test/d/a?q"
			if e.tls {
				want = "https://test/d/a?q"
			}
			if base != want || body != big {
				t.Errorf("objects of %s in %d bytes, want %s in %d", base, len(body), want, len(big))
			}
			s.check(t, "/d/a?q, /1%202?3%204, /5")
		})
	}
}

// The requests for objects are those of a browser: without a body.
func TestBrowseObjectsHaveNoBody(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"GET", "POST"} {
		s := &site{replies: map[string]string{"/a": page("/1")}}
		req := request(t, RequestOptions{Method: method, URI: "/a", Host: "test", Header: []Header{{"Content-Type", "t"}}, Body: []byte("body")})
		browse(t, engines[0], s, Browse{Workload: &Calls{Request: req}, Objects: embeds}, 1)
		s.check(t, strings.TrimPrefix(method+" /a (t) body, /1", "GET "))
	}
}

// All objects are under way before the first is answered, on as many connections.
func TestBrowseObjectsAtOnce(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			var asked sync.WaitGroup
			asked.Add(4)
			s := &site{answer: func(_ int, uri string) string {
				if uri == "/" {
					return page("/1", "/2", "/3", "/4")
				}
				asked.Done()
				asked.Wait()
				return plainReply
			}}
			o := e.on(sessions(t, to(s.serve(t, e)), 1, Calls{}, Sessions{MaxConns: 4, MaxPiped: 1}))
			o.Streams[0].Workload = &Browse{Workload: o.Streams[0].Workload, Objects: embeds}
			a := do(t, o).All
			s.mu.Lock()
			defer s.mu.Unlock()
			if a.Completed() != 1 || a.Planned != 5 || a.Replied != 5 || len(s.byConn) != 4 || a.SessionConns != 4 {
				t.Errorf("outcomes %s, replied %d of %d, %d connections (%d by our count): want 1 ok, 5 of 5, 4", outcomes(&a), a.Replied, a.Planned, len(s.byConn), a.SessionConns)
			}
		})
	}
}

// Without sessions what a reply led to takes the arrival's only connection.
func TestBrowseOnOneConnection(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			s := &site{replies: map[string]string{"/": page("/1", "/2", "/3"), "/2": moved(302, "/4")}}
			o := e.on(plan(t, to(s.serve(t, e)), 20, Calls{Calls: 4, Burst: 2, Pause: time.Millisecond}))
			o.Streams[0].Workload = &Browse{Workload: o.Streams[0].Workload, Follow: true, Objects: embeds}
			a := do(t, o).All
			// Two pages, their six objects and where two of them have gone; twice.
			if a.Completed() != 20 || a.Planned != 400 || a.Replied != 400 || a.Attempted != 20 {
				t.Errorf("outcomes %s, replied %d of %d, %d connections: want 20 ok, 400 of 400, 20", outcomes(&a), a.Replied, a.Planned, a.Attempted)
			}
			want := "/ / /1 /2 /3 /1 /2 /3 /4 /4 / / /1 /2 /3 /1 /2 /3 /4 /4"
			s.mu.Lock()
			defer s.mu.Unlock()
			for i, c := range s.byConn {
				if have := strings.Join(c, " "); have != want {
					t.Errorf("connection %d asked for %s, want %s", i, have, want)
				}
			}
		})
	}
}

func TestBrowseAccounts(t *testing.T) {
	t.Parallel()
	busy := func(status int) bool { return status == 503 }
	closing := func(reply string) string { return strings.Replace(reply, "\r\n", "\r\nConnection: close\r\n", 1) }
	for _, tt := range []struct {
		name                         string
		replies                      map[string]string
		sessions                     *Sessions // nil is a plain arrival
		outcome                      sampler.Class
		planned, replied, unanswered uint64
		unsent                       uint64
	}{
		{"closed after a page", map[string]string{"/a": closing(page("/1", "/2", "/3"))}, nil, sampler.OK, 5, 1, 0, 4},
		{"closed after a redirect", map[string]string{"/a": closing(moved(302, "/x"))}, nil, sampler.OK, 3, 1, 0, 2},
		{"cut off at an object", map[string]string{"/a": page("/1"), "/1": hangUp}, nil, sampler.ClosedEarly, 3, 1, 1, 1},
		{"an object fails the session", map[string]string{"/a": page("/1"), "/1": busyReply}, &Sessions{Fail: busy}, sampler.UnexpectedStatus, 3, 2, 0, 1},
		{"a redirect fails the session", map[string]string{"/a": moved(302, "/x")}, &Sessions{Fail: func(s int) bool { return s == 302 }}, sampler.UnexpectedStatus, 3, 1, 0, 2},
		{"the session goes on", map[string]string{"/a": closing(page("/1", "/2")), "/1": closing(plainReply)}, &Sessions{MaxConns: 1, MaxPiped: 1}, sampler.OK, 4, 4, 0, 0},
	} {
		for _, e := range engines {
			t.Run(tt.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				s := &site{replies: tt.replies}
				o := e.on(plan(t, to(s.serve(t, e)), 3, Calls{}))
				o.Streams[0].Workload, o.Streams[0].Sessions = &Browse{Workload: gets(t, RequestOptions{}, "/a", "/b"), Follow: true, Objects: embeds}, tt.sessions
				a := do(t, o).All
				have := [...]uint64{a.Outcomes[tt.outcome], a.Planned, a.Replied, a.Unanswered, a.Unsent}
				want := [...]uint64{3, 3 * tt.planned, 3 * tt.replied, 3 * tt.unanswered, 3 * tt.unsent}
				if have != want {
					t.Errorf("outcomes %s; %v, planned, replied, unanswered, unsent = %v, want %v", outcomes(&a), tt.outcome, have, want)
				}
			})
		}
	}
}

// A call that is made again is what it was the first time.
func TestBrowseRetries(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			asked := map[string]int{} // of one connection at a time
			s := &site{answer: func(_ int, uri string) string {
				asked[uri]++
				switch {
				case uri == "/a":
					return page("/1")
				case asked[uri] == 1:
					return busyReply
				case uri == "/1":
					return page("/2")
				}
				return moved(302, "/b")
			}}
			o := e.on(sessions(t, to(s.serve(t, e)), 1, Calls{}, Sessions{MaxConns: 1, MaxPiped: 1, Retry: true, Fail: func(s int) bool { return s == 503 }}))
			o.Streams[0].Workload = &Browse{Workload: gets(t, RequestOptions{}, "/a", "/c"), Follow: true, Objects: embeds, HTTPS: e.tls}
			a := do(t, o).All
			s.check(t, "/a, /1, /1, /c, /c, /b"+strings.Repeat(", /b", maxRedirects))
			if a.Outcomes[sampler.UnexpectedStatus] != 1 || a.Planned != 16 || a.Replied != 16 || a.Retries != 3 {
				t.Errorf("outcomes %s, replied %d of %d, %d retries: want 1 unexpected_status, 16 of 16, 3", outcomes(&a), a.Replied, a.Planned, a.Retries)
			}
		})
	}
}

// What Browse asks for goes at once, in a burst, between the workload's own calls,
// which keep their pauses.
func TestBrowseSteps(t *testing.T) {
	t.Parallel()
	w := &Browse{Workload: &Calls{Request: request(t, RequestOptions{URI: "/a", Host: "test"}), Calls: 4, Burst: 2, Pause: 7}, Objects: embeds}
	s := Session{Index: 3}
	w.Begin(3, &s)
	html := func(objects string) *Reply {
		return &Reply{Status: 200, Header: []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"), Body: []byte(objects)}
	}
	var burst []*Request
	for i, step := range []struct {
		last  *Reply // to each call of the last burst
		uri   string
		wait  time.Duration
		more  bool
		extra int
	}{
		{nil, "/a", 0, true, 0},
		{nil, "/a", 0, false, 0},
		{html("/1 /2"), "/1", 0, true, 4},
		{nil, "/2", 0, true, 4},
		{nil, "/1", 0, true, 4},
		{nil, "/2", 0, false, 4},
		{html("/3"), "/a", 7, true, 4},
		{nil, "/a", 0, false, 4},
		{html(""), "", 0, false, 4},
	} {
		if step.last != nil {
			for _, req := range burst {
				w.Replied(&s, req, step.last)
			}
			burst = nil
		}
		req, wait, ok := w.Next(&s, step.last)
		if ok != (step.uri != "") || s.Extra != step.extra {
			t.Fatalf("step %d: a request %v, %d further calls; want %v, %d", i, ok, s.Extra, step.uri != "", step.extra)
		}
		if !ok {
			break
		}
		if req.URI() != step.uri || wait != step.wait || s.More != step.more {
			t.Errorf("step %d: %s after %v, more %v; want %s, %v, %v", i, req.URI(), wait, s.More, step.uri, step.wait, step.more)
		}
		burst = append(burst, req)
	}
}
