package script

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"
)

// An Entry is a request of an HTTP archive, with the moment it was made.
type Entry struct {
	Request
	Start time.Duration // after the first entry; of more than 292 years, that
}

// harEntry is what is read of an entry of an archive.
type harEntry struct {
	Started string `json:"startedDateTime"`
	Request struct {
		Method   string     `json:"method"`
		URL      string     `json:"url"`
		Headers  []harField `json:"headers"`
		PostData struct {
			MimeType string     `json:"mimeType"`
			Text     string     `json:"text"`
			Params   []harField `json:"params"`
		} `json:"postData"`
	} `json:"request"`
}

type harField struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// ParseHAR reads the requests of an HTTP archive (HAR 1.2) in the order in which
// they were made. Entries of other schemes than http and https, such as data:
// and wss:, are left out; skipped counts them by scheme, in lower case.
//
// What belongs to the recorded connection or to the framing of the recorded
// message is left out of the header: fields whose names begin with a colon,
// Host, Content-Length, Connection, Keep-Alive, TE, Transfer-Encoding, Upgrade,
// and all that begin with Proxy-. A body that has only params is encoded as a
// form.
//
// A file without any http or https entry is an error. Name is what errors call
// the file; they have the place of an entry, or of what is no JSON.
func ParseHAR(name string, content []byte) (entries []Entry, skipped map[string]int, err error) {
	src := newSource(name, content)
	// The whole is checked first: the offsets of a decoder that also hands out
	// tokens do not count these.
	var all struct{}
	if offset, wrong := decode(src.content, &all, false); wrong != "" {
		return nil, nil, src.errorf(offset, "%s", wrong)
	}
	d := json.NewDecoder(bytes.NewReader(src.content))
	if !enter(d, "log") || !enter(d, "entries") || !begins(d, '[') {
		return nil, nil, src.errorf(0, "no entries: want an HTTP archive, with an array log.entries")
	}
	skipped = map[string]int{}
	var starts []time.Time
	for number := 1; d.More(); number++ {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, nil, src.errorf(int(d.InputOffset()), "entry %d: %w", number, err)
		}
		at := int(d.InputOffset()) - len(raw)
		var e harEntry
		if offset, wrong := decode(raw, &e, false); wrong != "" {
			return nil, nil, src.errorf(at+offset, "entry %d: %s", number, wrong)
		}
		scheme, _, _ := strings.Cut(e.Request.URL, ":")
		if scheme = strings.ToLower(scheme); len(scheme) < len(e.Request.URL) && isScheme(scheme) && scheme != "http" && scheme != "https" {
			skipped[scheme]++
			continue
		}
		if len(entries) == maxRequests {
			return nil, nil, src.errorf(at, "more than %d entries: want fewer", maxRequests)
		}
		req, wrong := e.request()
		start, err := time.Parse(time.RFC3339, e.Started)
		if err != nil && wrong == "" {
			wrong = "startedDateTime that is none: want one such as 2026-01-31T12:00:00.000Z"
		}
		if wrong != "" {
			return nil, nil, src.errorf(at, "entry %d: %s", number, wrong)
		}
		req.Line = number
		entries = append(entries, Entry{Request: req})
		starts = append(starts, start)
	}
	if len(entries) == 0 {
		return nil, nil, src.errorf(0, "no http or https entry: want at least one")
	}
	first := slices.MinFunc(starts, time.Time.Compare)
	for i := range entries {
		entries[i].Start = starts[i].Sub(first)
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Start, b.Start) })
	return entries, skipped, nil
}

// enter goes to the value of a key of the object that is next, and says whether
// there is one.
func enter(d *json.Decoder, key string) bool {
	if !begins(d, '{') {
		return false
	}
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return false
		}
		if k == key {
			return true
		}
		var other json.RawMessage
		if d.Decode(&other) != nil {
			return false
		}
	}
	return false
}

// begins reads a token and says whether it is the one that is wanted.
func begins(d *json.Decoder, want json.Delim) bool {
	t, err := d.Token()
	return err == nil && t == want
}

// isScheme reports whether s, in lower case, may be the scheme of a URL
// (RFC 3986, 3.1).
func isScheme(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isAlphanumeric(c) && c != '+' && c != '-' && c != '.' {
			return false
		}
	}
	return s != "" && s[0] >= 'a'
}

// request returns the request of e. The second result is what is wrong with it,
// empty if nothing is.
func (e *harEntry) request() (req Request, wrong string) {
	r := &e.Request
	if !isToken(r.Method) {
		return Request{}, "method that is no token: want one such as GET"
	}
	req.Method = r.Method
	if req.Scheme, req.Host, req.URI, wrong = splitURL(r.URL); wrong != "" {
		return Request{}, wrong
	}
	for _, h := range r.Headers {
		if isBoundToConnection(h.Name) {
			continue
		}
		f := Field{h.Name, strings.Trim(h.Value, blanks)}
		if wrong := f.check(); wrong != "" {
			return Request{}, wrong
		}
		req.Header = append(req.Header, f)
	}
	switch p := &r.PostData; {
	case p.Text != "":
		req.Body = []byte(p.Text)
	case len(p.Params) > 0 && strings.HasPrefix(strings.ToLower(p.MimeType), "multipart/"):
		return Request{}, "multipart body without its text: want postData.text"
	case len(p.Params) > 0:
		req.Body = encodeForm(p.Params)
	}
	return req, ""
}

// encodeForm encodes a form in the order of its parameters.
func encodeForm(params []harField) []byte {
	var b []byte
	for i, p := range params {
		if i > 0 {
			b = append(b, '&')
		}
		b = append(b, url.QueryEscape(p.Name)...)
		b = append(b, '=')
		b = append(b, url.QueryEscape(p.Value)...)
	}
	return b
}

// isBoundToConnection reports whether a header field of a recorded request says
// something about the connection or the framing it had, or is a pseudo field of
// HTTP/2.
func isBoundToConnection(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "host", "content-length", "connection", "keep-alive", "te", "transfer-encoding", "upgrade":
		return true
	}
	return strings.HasPrefix(name, ":") || strings.HasPrefix(name, "proxy-")
}
