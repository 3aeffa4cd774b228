package run

import (
	"fmt"
	"strconv"
	"strings"

	"httpgen/client"
)

// maxList bounds the bytes of all requests of a list together, the URIs left out.
const maxList = 1 << 30

// request describes a request for uri.
func (o *Options) request(uri string) client.RequestOptions {
	return client.RequestOptions{
		Method: o.Method, URI: uri, Host: hostHeader(o), NoHost: o.NoHost, HTTP10: o.HTTP10,
		UserAgent: o.UserAgent, Header: o.Header, Body: o.Body,
	}
}

// workload builds the requests. A list that is asked for once bounds NumConns.
func (o *Options) workload() (client.Workload, error) {
	// The rest of a request is checked before the URIs of a list are.
	req, err := client.NewRequest(o.request(o.URI))
	if err != nil {
		return nil, trim(err)
	}
	l := &client.List{Calls: o.NumCalls, Burst: o.Burst, Pause: o.Pause, Once: o.Once}
	switch {
	case o.WorkingSet.N > 0:
		l.Requests, err = o.list(o.WorkingSet.N, len(req.Bytes()), o.WorkingSet.uri(o.URI))
		l.Pick = client.Walk(o.WorkingSet.Step, o.Client, o.Clients)
	case len(o.URIs) > 0:
		l.Requests, err = o.list(len(o.URIs), len(req.Bytes()), func(i int) string { return o.URIs[i] })
	default:
		return &client.Calls{Request: req, Calls: o.NumCalls, Burst: o.Burst, Pause: o.Pause}, nil
	}
	if err != nil {
		return nil, err
	}
	if most := l.Arrivals(); most > 0 && (o.NumConns == 0 || o.NumConns > most) {
		o.NumConns, o.Forever = most, false
	}
	return l, nil
}

// list builds n requests of about size bytes each.
func (o *Options) list(n, size int, uri func(i int) string) ([]*client.Request, error) {
	from := ""
	if o.URIsFrom != "" {
		from = " of " + strconv.Quote(o.URIsFrom)
	}
	if n > maxList/size {
		return nil, fmt.Errorf("%d requests%s of %d bytes each, with header and body: want no more than %d MiB in all", n, from, size, maxList>>20)
	}
	list := make([]*client.Request, n)
	for i := range list {
		req, err := client.NewRequest(o.request(uri(i)))
		if err != nil {
			return nil, fmt.Errorf("entry %d%s: %w", i+1, from, trim(err))
		}
		list[i] = req
	}
	return list, nil
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
func (r *Run) whatFor() string {
	o := &r.o
	switch {
	case o.WorkingSet.N > 0:
		uri := o.WorkingSet.uri(o.URI)
		text := fmt.Sprintf("A working set of %s from %s to %s: each call moves on by %g of a file", plural(o.WorkingSet.N, "file"), uri(0), uri(o.WorkingSet.N-1), o.WorkingSet.Step)
		if o.Clients > 1 {
			text += fmt.Sprintf(", of every %d from number %d", o.Clients, o.Client)
		}
		return text + "."
	case len(o.URIs) == 0:
		return ""
	}
	text := fmt.Sprintf("A list of %s", plural(len(o.URIs), "URI"))
	if o.URIsFrom != "" {
		text += " from " + o.URIsFrom
	}
	if !o.Once {
		return text + ", in order over all calls, again and again."
	}
	text += ", each asked for at most once: the run ends with the list at the latest"
	if short := len(o.URIs) % o.NumCalls; short > 0 && r.lastOfList() {
		text += fmt.Sprintf(", its last connection with %s", plural(short, "call"))
	}
	return text + "."
}

// lastOfList says whether there are arrivals enough to come to the end of the
// list.
func (r *Run) lastOfList() bool {
	return r.o.NumConns*uint64(r.o.NumCalls) >= uint64(len(r.o.URIs))
}
