package run

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"httpgen/client"
	"httpgen/internal/script"
)

// maxList bounds the bytes of all requests of a list together, the URIs left out.
const maxList = 1 << 30

// request describes a request for uri.
func (o *Options) request(uri string) client.RequestOptions {
	q := client.RequestOptions{
		Method: o.Method, URI: uri, Host: hostHeader(o), NoHost: o.NoHost, HTTP10: o.HTTP10,
		UserAgent: o.UserAgent, Header: o.Header, Body: o.Body,
	}
	switch {
	case !o.HTTP2:
	case o.TLS != nil:
		q.HTTP2 = "https"
	default:
		q.HTTP2 = "http"
	}
	if o.Expand {
		q.Expand = &client.Expand{Seed: o.Seed, Client: o.Client}
	}
	return q
}

// scripted builds a request that a file describes.
func (o *Options) scripted(q *script.Request) (*client.Request, error) {
	c := o.request(q.URI)
	c.Body = q.Body
	c.Method = cmp.Or(q.Method, c.Method)
	if q.Host != "" && o.ServerName == "" {
		c.Host = q.Host
	}
	if len(q.Header) > 0 {
		c.Header = slices.DeleteFunc(slices.Clone(c.Header), func(h client.Header) bool {
			return slices.ContainsFunc(q.Header, func(f script.Field) bool { return strings.EqualFold(f.Name, h.Name) })
		})
		for _, f := range q.Header {
			c.Header = append(c.Header, client.Header(f))
		}
	}
	req, err := client.NewRequest(c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.place(q), trim(err))
	}
	return req, nil
}

// workload says what arrivals do. A list that is asked for once bounds NumConns.
func (o *Options) workload(all []host, index map[string]int) (w client.Workload, err error) {
	if len(o.Servers) > 0 {
		var works []client.Workload
		var weights []int
		for _, s := range all {
			one := o.at(s)
			w, err := one.single(nil)
			if err != nil {
				return nil, err
			}
			o.NumConns, o.Forever = one.NumConns, one.Forever
			works, weights = append(works, w), append(weights, s.weight)
		}
		if w, err = client.NewSpread(works, weights); err != nil {
			return nil, trim(err)
		}
	} else if w, err = o.single(index); err != nil {
		return nil, err
	}
	pages := o.Session != nil && o.Session.Pages
	if o.Cookies || o.Follow || pages {
		b := &client.Browse{Workload: w, HTTPS: o.TLS != nil, Cookies: o.Cookies, Follow: o.Follow || pages}
		if pages {
			b.Objects = func(base *url.URL, page []byte) []string { return script.Embedded(base, page, "") }
		}
		w = b
	}
	return w, nil
}

// single says what arrivals do at one server, or where index says at which.
func (o *Options) single(index map[string]int) (client.Workload, error) {
	if o.Session != nil && o.Session.Script != nil {
		return o.script()
	}
	if o.Log != nil {
		return &replay{o: o, log: o.Log}, nil
	}
	lead := o.Session != nil
	l := &client.List{Calls: o.NumCalls, Burst: o.Burst, Pause: o.Pause, Once: o.Once, Lead: lead}
	if len(o.Requests) > 0 {
		size := 0
		for i := range o.Requests {
			req, err := o.scripted(&o.Requests[i])
			if err != nil {
				return nil, err
			}
			if size += len(req.Bytes()); size > maxList {
				return nil, o.tooLong()
			}
			l.Requests = append(l.Requests, req)
			if len(index) > 1 {
				l.Servers = append(l.Servers, index[o.Requests[i].Host])
			}
		}
		o.once(l)
		return l, nil
	}
	// The rest of a request is checked before the URIs of a list are.
	req, err := client.NewRequest(o.request(o.URI))
	if err != nil {
		return nil, trim(err)
	}
	switch {
	case o.WorkingSet.N > 0:
		l.Requests, err = o.list(o.WorkingSet.N, len(req.Bytes()), o.WorkingSet.uri(o.URI))
		l.Pick = client.Walk(o.WorkingSet.Step, o.Client, o.Clients)
	case len(o.URIs) > 0:
		l.Requests, err = o.list(len(o.URIs), len(req.Bytes()), func(i int) string { return o.URIs[i] })
	default:
		return &client.Calls{Request: req, Calls: o.NumCalls, Burst: o.Burst, Pause: o.Pause, Lead: lead}, nil
	}
	if err != nil {
		return nil, err
	}
	o.once(l)
	return l, nil
}

// once bounds the arrivals by a list that is asked for once.
func (o *Options) once(l *client.List) {
	if most := l.Arrivals(); most > 0 && (o.NumConns == 0 || o.NumConns > most) {
		o.NumConns, o.Forever = most, false
	}
}

// tooLong is the error of a file whose requests take too much memory.
func (o *Options) tooLong() error {
	return fmt.Errorf("%s: its requests take more than %d MiB: want fewer of them", o.From, maxList>>20)
}

// list builds n requests of about size bytes each.
func (o *Options) list(n, size int, uri func(i int) string) ([]*client.Request, error) {
	if n > maxList/size {
		from := ""
		if o.From != "" {
			from = " of " + strconv.Quote(o.From)
		}
		return nil, fmt.Errorf("%d requests%s of %d bytes each, with header and body: want no more than %d MiB in all", n, from, size, maxList>>20)
	}
	list := make([]*client.Request, n)
	for i := range list {
		req, err := client.NewRequest(o.request(uri(i)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.entry(i, uri(i)), trim(err))
		}
		list[i] = req
	}
	return list, nil
}

// entry names entry i of a list: by file, line and the column of what cannot be
// sent where lines are known, else by its number.
func (o *Options) entry(i int, uri string) string {
	switch {
	case i < len(o.Rows):
		column := 1 + max(0, strings.IndexFunc(uri, func(r rune) bool { return r <= ' ' || r == 0x7f }))
		return fmt.Sprintf("%s:%d:%d", o.From, o.Rows[i], column)
	case o.From != "":
		return fmt.Sprintf("entry %d of %q", i+1, o.From)
	}
	return fmt.Sprintf("entry %d", i+1)
}

// uri returns how file i is asked for. The prefix loses one slash at its end.
func (w WorkingSet) uri(prefix string) func(i int) string {
	prefix = strings.TrimSuffix(prefix, "/")
	digits := len(strconv.Itoa(w.N - 1))
	return func(i int) string {
		b := make([]byte, 0, len(prefix)+2*digits+len(".html"))
		b = append(b, prefix...)
		for _, c := range fmt.Appendf(nil, "%0*d", digits, i) {
			b = append(b, '/', c)
		}
		return string(append(b, ".html"...))
	}
}

// whatFor says what a list asks for; it is empty without one.
func (s *stream) whatFor() string {
	o := &s.o
	switch {
	case o.WorkingSet.N > 0:
		uri := o.WorkingSet.uri(o.URI)
		text := fmt.Sprintf("A working set of %s from %s to %s: each call moves on by %g of a file", plural(o.WorkingSet.N, "file"), uri(0), uri(o.WorkingSet.N-1), o.WorkingSet.Step)
		if o.Clients > 1 {
			text += fmt.Sprintf(", of every %d from number %d", o.Clients, o.Client)
		}
		return text + "."
	case o.Session != nil && o.Session.Script != nil:
		most, mean, _ := o.shape()
		return fmt.Sprintf("A script of %s from %s, in turn: %s calls in the mean, %d in the longest.", plural(len(o.Session.Script), "session"), o.From, figure(mean), most)
	case o.Log != nil:
		text := fmt.Sprintf("An access log of %s over %s from %s", plural(int(o.Log.Len()), "request"), seconds(o.Log.Span()), o.From)
		if out := o.Log.Skipped(); out.NotHTTP+out.Unusable+out.Truncated > 0 {
			text += fmt.Sprintf("; left out: %s without a request, %d that cannot be sent, %d cut off", plural(int(out.NotHTTP), "line"), out.Unusable, out.Truncated)
		}
		if n := o.Log.Disordered(); n > 0 {
			text += fmt.Sprintf("; %s out of order, taken at the time of the one before", plural(int(n), "request"))
		}
		return text + "."
	case len(o.Requests) > 0:
		text := fmt.Sprintf("A list of %s from %s, in order over all calls", plural(len(o.Requests), "request"), o.From)
		if o.Once {
			return text + ", once."
		}
		return text + ", again and again."
	case len(o.URIs) == 0:
		return ""
	}
	text := fmt.Sprintf("A list of %s", plural(len(o.URIs), "URI"))
	if o.From != "" {
		text += " from " + o.From
	}
	if !o.Once {
		return text + ", in order over all calls, again and again."
	}
	text += ", each asked for at most once: the run ends with the list at the latest"
	if short := len(o.URIs) % o.NumCalls; short > 0 && s.lastOfList() {
		text += fmt.Sprintf(", its last connection with %s", plural(short, "call"))
	}
	return text + "."
}

// lastOfList says whether there are arrivals enough to come to the end of the
// list.
func (s *stream) lastOfList() bool {
	return s.o.NumConns*uint64(s.o.NumCalls) >= uint64(len(s.o.URIs))
}
