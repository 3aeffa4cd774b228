package client

import (
	"bytes"
	"cmp"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Browse lets another workload behave like a browser. What it asks for beyond
// that workload's requests goes at once when the calls under way are answered.
type Browse struct {
	Workload Workload
	HTTPS    bool // the scheme of the targets
	Cookies  bool // keep the cookies of each arrival, and send them (RFC 6265)
	Follow   bool // follow redirects to the same origin, up to 10 in a row

	// Objects returns the URIs that a page of that URL embeds. They are asked for
	// when one of Workload's own requests was answered by HTML; nil asks for none.
	Objects func(base *url.URL, page []byte) []string
}

// maxRedirects is how many redirects in a row are followed.
const maxRedirects = 10

// browsing is the state of an arrival.
type browsing struct {
	inner     any // Session.Data of the workload
	jar       *cookiejar.Jar
	queue     []asked
	objects   map[*Request]bool // those under way
	redirects int               // in a row
}

// asked is a request that a reply led to.
type asked struct {
	req    *Request
	object bool // of a page
}

// Begin implements Workload.
func (w *Browse) Begin(index uint64, s *Session) {
	w.Workload.Begin(index, s)
	s.Data = &browsing{inner: s.Data}
}

// Body implements Observer.
func (w *Browse) Body() bool { return w.Objects != nil }

// Next implements Workload.
func (w *Browse) Next(s *Session, last *Reply) (*Request, time.Duration, bool) {
	b := s.Data.(*browsing)
	if len(b.queue) > 0 && (last != nil || s.More) {
		a := b.queue[0]
		b.queue = b.queue[1:]
		s.More = len(b.queue) > 0
		req := w.dress(b, a.req)
		if a.object {
			b.mark(req)
		}
		return req, 0, true
	}
	s.Data = b.inner
	req, wait, ok := w.Workload.Next(s, last)
	b.inner, s.Data = s.Data, b
	if !ok {
		return nil, 0, false
	}
	return w.dress(b, req), wait, true
}

// mark notes that req is for an object of a page.
func (b *browsing) mark(req *Request) {
	if b.objects == nil {
		b.objects = map[*Request]bool{}
	}
	b.objects[req] = true
}

// dress returns a request with the cookies that belong to it.
func (w *Browse) dress(b *browsing, req *Request) *Request {
	if b.jar == nil {
		return req
	}
	var line strings.Builder
	for _, c := range b.jar.Cookies(w.url(req)) {
		if line.Len() > 0 {
			line.WriteString("; ")
		}
		line.WriteString(c.Name + "=" + c.Value)
	}
	if line.Len() == 0 {
		return req
	}
	with, err := req.With(Header{"Cookie", line.String()})
	if err != nil {
		return req // a value that no header line can hold
	}
	return with
}

// url returns where a request goes.
func (w *Browse) url(req *Request) *url.URL {
	u, err := url.Parse(req.URI())
	if err != nil || u.Host != "" {
		u = &url.URL{Path: "/"}
	}
	u.Scheme, u.Host = "http", cmp.Or(req.host, "localhost")
	if w.HTTPS {
		u.Scheme = "https"
	}
	return u
}

// Replied implements Observer.
func (w *Browse) Replied(s *Session, req *Request, r *Reply) {
	b := s.Data.(*browsing)
	object := b.objects[req]
	delete(b.objects, req)
	if w.Cookies {
		w.keep(b, req, r)
	}
	if next := w.redirect(b, req, r); next != nil {
		b.redirects++
		b.ask(s, asked{next, object})
		return
	}
	b.redirects = 0
	if w.Objects == nil || object || r.Status != http.StatusOK || !strings.HasPrefix(strings.ToLower(field(r.Header, "Content-Type")), "text/html") {
		return
	}
	for _, uri := range w.Objects(w.url(req), r.Body) {
		b.ask(s, asked{req.to("GET", uri), true})
	}
}

// ask puts a request into the queue.
func (b *browsing) ask(s *Session, a asked) {
	b.queue = append(b.queue, a)
	s.Extra++
}

// keep stores the cookies of a reply.
func (w *Browse) keep(b *browsing, req *Request, r *Reply) {
	var cookies []*http.Cookie
	for value := range fields(r.Header, "Set-Cookie") {
		if c, err := http.ParseSetCookie(value); err == nil {
			cookies = append(cookies, c)
		}
	}
	if len(cookies) == 0 {
		return
	}
	if b.jar == nil {
		b.jar, _ = cookiejar.New(nil) // it never fails
	}
	b.jar.SetCookies(w.url(req), cookies)
}

// redirect returns the request that a reply asks for, nil if there is none to
// follow (RFC 9110, 15.4).
func (w *Browse) redirect(b *browsing, req *Request, r *Reply) *Request {
	location := field(r.Header, "Location")
	if !w.Follow || location == "" || b.redirects >= maxRedirects {
		return nil
	}
	from := w.url(req)
	to, err := from.Parse(location)
	if err != nil || to.Scheme != from.Scheme || !strings.EqualFold(origin(to), origin(from)) {
		return nil
	}
	method := req.method()
	switch r.Status {
	case http.StatusMovedPermanently, http.StatusFound:
		if method == "POST" {
			method = "GET"
		}
	case http.StatusSeeOther:
		if method != "HEAD" {
			method = "GET"
		}
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil
	}
	return req.to(method, to.RequestURI())
}

// origin returns host and port of a URL.
func origin(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	if u.Scheme == "https" {
		return u.Host + ":443"
	}
	return u.Host + ":80"
}

// field returns the value of the last field of a name, empty if there is none.
func field(header []byte, name string) (value string) {
	for v := range fields(header, name) {
		value = v
	}
	return value
}

// fields yields the values of all fields of a name.
func fields(header []byte, name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for line := range bytes.Lines(header) {
			n, v, ok := bytes.Cut(line, []byte(":"))
			if ok && strings.EqualFold(string(n), name) && !yield(strings.TrimSpace(string(v))) {
				return
			}
		}
	}
}

// to returns a request for another URI of the same server. With another method it
// loses its body.
func (r *Request) to(method, uri string) *Request {
	line, rest, _ := bytes.Cut(r.bytes[:r.end], []byte("\r\n"))
	version := line[bytes.LastIndexByte(line, ' '):]
	n := &Request{host: r.host, head: method == "HEAD", idempotent: idempotent(method)}
	n.bytes = slices.Concat([]byte(method+" "+uri), version, []byte("\r\n"))
	body := r.bytes[r.end:]
	if method != r.method() {
		body = nil
	}
	for line := range bytes.Lines(rest) {
		name, _, _ := bytes.Cut(line, []byte(":"))
		if body == nil && (strings.EqualFold(string(name), "Transfer-Encoding") || len(name) > 8 && strings.EqualFold(string(name[:8]), "Content-")) || strings.EqualFold(string(name), "Cookie") {
			continue
		}
		n.bytes = append(n.bytes, line...)
	}
	n.end = len(n.bytes)
	n.bytes = append(n.bytes, body...)
	return n
}

// method returns the request's method.
func (r *Request) method() string {
	method, _, _ := bytes.Cut(r.bytes, []byte(" "))
	return string(method)
}
