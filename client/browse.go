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
	"unicode"
)

// Browse lets another workload behave like a browser. What it asks for beyond
// that workload's requests goes at once when the calls under way are answered.
type Browse struct {
	Workload Workload
	HTTPS    bool // the scheme of the targets
	Cookies  bool // keep the cookies of each arrival, and send them (RFC 6265)
	Follow   bool // follow redirects to the same origin, up to 10 in a row: an arrival with more is one that failed

	// Objects returns the URIs that a page of that URL embeds, as they are to be
	// sent. They are asked for when one of Workload's own requests was answered by
	// HTML, also after redirects; nil asks for none.
	Objects func(base *url.URL, page []byte) []string
}

// maxRedirects is how many redirects in a row are followed.
const maxRedirects = 10

// browsing is the state of an arrival.
type browsing struct {
	inner any // Session.Data of the workload
	jar   *cookiejar.Jar
	queue []*Request // to which replies led
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
		req := b.queue[0]
		b.queue = b.queue[1:]
		s.More = len(b.queue) > 0
		// It shares the number of the workload's call before it: the numbers after
		// the workload's own are those of other arrivals.
		s.Seq--
		return w.dress(b, req), 0, true
	}
	s.Data = b.inner
	req, wait, ok := w.Workload.Next(s, last)
	b.inner, s.Data = s.Data, b
	if !ok {
		return nil, 0, false
	}
	return w.dress(b, req), wait, true
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
		value := c.Value
		if c.Quoted {
			value = `"` + value + `"`
		}
		line.WriteString(c.Name + "=" + value)
	}
	if line.Len() == 0 {
		return req
	}
	with, err := req.With(Header{"Cookie", line.String()})
	if err != nil {
		return req // a value that no header line can hold
	}
	with.plain = req
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
	if req.plain != nil {
		req = req.plain
	}
	if w.Cookies {
		w.keep(b, req, r)
	}
	if next := w.redirect(req, r); next != nil && req.redirects == maxRedirects {
		s.Fail = true
	} else if next != nil {
		next.redirects, next.object = req.redirects+1, req.object
		b.ask(s, next)
		return
	}
	if w.Objects == nil || req.object || r.Status != http.StatusOK || !isHTML(r) {
		return
	}
	for _, uri := range w.Objects(w.url(req), r.Body) {
		if uri == "" || strings.ContainsFunc(uri, unicode.IsControl) {
			continue // no request line can hold it
		}
		if object := req.to("GET", uri, false); object != nil {
			object.object = true
			b.ask(s, object)
		}
	}
}

// isHTML says whether a reply is a page, of which its content tells where the header
// does not.
func isHTML(r *Reply) bool {
	kind := field(r.Header, "Content-Type")
	if kind == "" {
		kind = http.DetectContentType(r.Body)
	}
	return strings.HasPrefix(strings.ToLower(kind), "text/html")
}

// ask puts a request into the queue.
func (b *browsing) ask(s *Session, req *Request) {
	b.queue = append(b.queue, req)
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
func (w *Browse) redirect(req *Request, r *Reply) *Request {
	location := field(r.Header, "Location")
	if !w.Follow || location == "" {
		return nil
	}
	from := w.url(req)
	to, err := from.Parse(location)
	if err != nil || to.Scheme != from.Scheme || !strings.EqualFold(origin(to), origin(from)) {
		return nil
	}
	method, body := req.method(), true
	switch r.Status {
	case http.StatusMovedPermanently, http.StatusFound:
		if method == "POST" {
			method, body = "GET", false
		}
	case http.StatusSeeOther:
		body = false
		if method != "HEAD" {
			method = "GET"
		}
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil
	}
	return req.to(method, to.RequestURI(), body)
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

// to returns a request for another URI of the same server, with or without the
// body. Blanks in the URI are escaped; placeholders in it are not replaced. It is
// nil where HTTP/2 cannot send it.
func (r *Request) to(method, uri string, body bool) *Request {
	line, rest, _ := bytes.Cut(r.bytes[:r.end], []byte("\r\n"))
	version := line[bytes.LastIndexByte(line, ' '):]
	n := &Request{host: r.host, head: method == "HEAD", idempotent: idempotent(method), expand: r.expand}
	n.bytes = slices.Concat([]byte(method+" "+strings.ReplaceAll(uri, " ", "%20")), version, []byte("\r\n"))
	from := len(n.bytes)
	for line := range bytes.Lines(rest) {
		name, _, _ := bytes.Cut(line, []byte(":"))
		if !body && (strings.EqualFold(string(name), "Transfer-Encoding") || len(name) > 8 && strings.EqualFold(string(name[:8]), "Content-")) {
			continue
		}
		n.bytes = append(n.bytes, line...)
	}
	n.end = len(n.bytes)
	if body {
		n.bytes = append(n.bytes, r.bytes[r.end:]...)
	}
	if n.expand != nil {
		n.parts = n.expand.split(n.bytes[:n.end], from)
	}
	if n.scheme = r.scheme; n.scheme != "" {
		var err error
		if n.h2, err = h2Form(n.bytes, n.end, n.scheme); err != nil {
			return nil
		}
	}
	return n
}

// method returns the request's method.
func (r *Request) method() string {
	method, _, _ := bytes.Cut(r.bytes, []byte(" "))
	return string(method)
}
