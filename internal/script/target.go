package script

import (
	"bytes"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
)

// ParseTargets reads a list of targets in one of vegeta's formats.
//
// In the one, METHOD URL begins a target. Header lines, Name: value, and one
// @FILE with the body may follow, in any order, until a blank line or the next
// target. A line that has only a URL is a target too, with GET. Lines that begin
// with '#' are comments. A FILE is relative to the folder of name.
//
// In the other, which begins with '{', each line is a JSON object with method,
// url, header (an object of arrays) and body (base64). Header fields come out in
// the order of their names.
//
// A URL is absolute, http or https, or has a path only.
//
// Open reads a file; it is called once a path. A file without any target is an
// error. Name is what errors call the file.
func ParseTargets(name string, content []byte, open func(path string) ([]byte, error)) ([]Request, error) {
	p := &targetParser{lines: lines{source: newSource(name, content)}, bodies: newBodies(name, open)}
	read := p.line
	if bytes.HasPrefix(bytes.TrimLeft(p.content, blanks+"\r\n"), []byte("{")) {
		read = p.object
	}
	for p.scan() {
		if err := read(); err != nil {
			return nil, err
		}
	}
	if len(p.requests) == 0 {
		return nil, p.errorf(0, "no target: want METHOD URL a line")
	}
	return p.requests, nil
}

type targetParser struct {
	lines
	bodies   *bodies
	requests []Request
	within   bool // the last request may go on
}

// add appends a request that is described at offset of the current line.
func (p *targetParser) add(offset int, req Request, url string) error {
	var wrong string
	switch {
	case len(p.requests) == maxRequests:
		return p.errorf(offset, "more than %d targets: want fewer", maxRequests)
	case strings.HasPrefix(url, "/"):
		req.URI, wrong = originForm(url)
	case strings.Contains(url, "://"):
		req.Scheme, req.Host, req.URI, wrong = splitURL(url)
	default:
		wrong = "URL that is neither absolute nor a path: want http://, https:// or / at its start"
	}
	if wrong != "" {
		return p.errorf(offset, "%s", wrong)
	}
	req.Line = p.number
	p.requests = append(p.requests, req)
	return nil
}

// line reads the current line. What it is decides its first character or, after
// its first word, the next one: a colon makes a header field, unless slashes
// follow, and a blank a method.
func (p *targetParser) line() error {
	text := p.text
	end := 0
	for end < len(text) && isTokenByte(text[end]) {
		end++
	}
	rest := text[end:]
	switch {
	case len(text) == 0:
		p.within = false
	case text[0] == '#':
	case text[0] == '@':
		return p.body()
	case text[0] == '/' || bytes.HasPrefix(rest, []byte("://")):
		p.within = true
		return p.add(p.start, Request{Method: "GET"}, string(text))
	case end > 0 && len(rest) > 0 && rest[0] == ':':
		return p.field()
	case end > 0 && len(rest) > 0 && isBlank(rest[0]):
		p.within = true
		url := bytes.TrimLeft(rest, blanks)
		return p.add(p.start+len(text)-len(url), Request{Method: string(text[:end])}, string(url))
	default:
		return p.errorf(p.start, "line of no known kind: want METHOD URL, a URL, Name: value or @FILE")
	}
	return nil
}

// field reads a header line.
func (p *targetParser) field() error {
	if !p.within {
		return p.errorf(p.start, "header line without a target: want METHOD URL before it")
	}
	f, wrong := parseField(p.text)
	if wrong != "" {
		return p.errorf(p.start, "%s", wrong)
	}
	req := &p.requests[len(p.requests)-1]
	req.Header = append(req.Header, f)
	return nil
}

// body reads the file that a line names.
func (p *targetParser) body() error {
	if !p.within {
		return p.errorf(p.start, "body file without a target: want METHOD URL before it")
	}
	req := &p.requests[len(p.requests)-1]
	if req.Body != nil {
		return p.errorf(p.start, "second body file of a target: want one")
	}
	body, err := p.bodies.get(string(p.text[1:]))
	if err != nil {
		return p.errorf(p.start, "%w", err)
	}
	req.Body = body
	return nil
}

// object reads the current line as JSON.
func (p *targetParser) object() error {
	if len(p.text) == 0 {
		return nil
	}
	var target struct {
		Method string              `json:"method"`
		URL    string              `json:"url"`
		Body   string              `json:"body"`
		Header map[string][]string `json:"header"`
	}
	if offset, wrong := decode(p.text, &target, true); wrong != "" {
		return p.errorf(p.start+offset, "%s", wrong)
	}
	if !isToken(target.Method) {
		return p.errorf(p.start, "method that is no token: want one such as GET")
	}
	req := Request{Method: target.Method}
	if target.Body != "" {
		var err error
		if req.Body, err = base64.StdEncoding.DecodeString(target.Body); err != nil {
			return p.errorf(p.start, "body that is no base64: want it encoded so")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(target.Header)) {
		for _, value := range target.Header[name] {
			f := Field{name, strings.Trim(value, blanks)}
			if wrong := f.check(); wrong != "" {
				return p.errorf(p.start, "%s", wrong)
			}
			req.Header = append(req.Header, f)
		}
	}
	return p.add(p.start, req, target.URL)
}
