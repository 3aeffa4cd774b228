package script

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// A Burst is requests with no think time between them.
type Burst struct {
	Requests []Request     // at least one
	Think    time.Duration // from the end of the burst to the next one
	HasThink bool          // false: Think is the default of the run
}

// A Session is what one arrival of a session workload does.
type Session struct {
	Bursts []Burst // at least one, in order
}

// ParseSessions reads a session log. What httperf's manual allows (--wsesslog) has
// the same meaning here; headers, bodies from files, any method, Go durations and
// continued lines come on top. What httperf lets pass and is a mistake is an
// error: an open quote, a second method or body, a method that is none.
//
// A line with '#' in its first column is a comment. A blank line ends a session.
// Any other line is a request: one that is not indented begins a burst, an
// indented one belongs to the burst above. Its first word is the URI, sent as it
// is; any of these may follow:
//
//	method=TOKEN    default: that of the run
//	think=SECONDS   a number of seconds or a Go duration such as 200ms, after
//	                the burst; the last of a burst holds
//	contents=TEXT   the body
//	body=TEXT       the same
//	body=@FILE      the body is the content of a file
//	headers=TEXT    header lines; may be given more than once
//
// A TEXT goes on to the next blank that is not in quotes, '...' or "...", which
// may begin anywhere in it and are no part of it, so that JSON needs quotes
// around it. In both kinds and without quotes \n is LF, \r is CR, \t is HTAB, a
// backslash before the end of a line is LF, and before any other character it
// stands for that character. Elsewhere a backslash before the end of a line
// joins the next one to it. A FILE is written like a TEXT; its path is relative
// to the folder of name.
//
// Open reads a file; it is called once a path. A file without any session is an
// error. Name is what errors call the file.
func ParseSessions(name string, content []byte, open func(path string) ([]byte, error)) ([]Session, error) {
	p := &sessionParser{source: newSource(name, content), bodies: newBodies(name, open), line: 1}
	for p.pos < len(p.content) {
		line, _, _ := bytes.Cut(p.content[p.pos:], []byte("\n"))
		switch {
		case bytes.HasPrefix(line, []byte("#")):
			p.pos += len(line)
		case len(bytes.Trim(bytes.TrimSuffix(line, []byte("\r")), blanks)) == 0:
			p.within = false
			p.pos += len(line)
		default:
			if err := p.request(); err != nil {
				return nil, err
			}
		}
		p.endLine()
	}
	if len(p.sessions) == 0 {
		return nil, p.errorf(0, "no session: want a URI a line, and a blank line between sessions")
	}
	return p.sessions, nil
}

type sessionParser struct {
	*source
	bodies   *bodies
	pos      int // offset of the next byte
	line     int // its line, from 1
	sessions []Session
	within   bool // the last session may go on
	requests int  // of all sessions
}

// request reads one request, up to the end of its line.
func (p *sessionParser) request() error {
	indented := isBlank(p.content[p.pos])
	req := Request{Line: p.line}
	p.skipBlanks()
	at := p.pos
	req.URI = p.word()
	switch {
	case !p.within && indented:
		return p.errorf(at, "indented line at the start of a session: want a line that begins a burst")
	case req.URI == "":
		return p.errorf(at, "continued line with nothing in it: want a URI")
	case !isUnbroken(req.URI):
		return p.errorf(at, "URI with a control character: want none")
	case p.requests == maxRequests:
		return p.errorf(at, "more than %d requests: want fewer", maxRequests)
	}
	p.requests++
	if !p.within {
		p.within = true
		p.sessions = append(p.sessions, Session{})
	}
	s := &p.sessions[len(p.sessions)-1]
	if !indented {
		s.Bursts = append(s.Bursts, Burst{})
	}
	b := &s.Bursts[len(s.Bursts)-1]
	for p.skipBlanks(); !p.atLineEnd(); p.skipBlanks() {
		if err := p.parameter(&req, b); err != nil {
			return err
		}
	}
	b.Requests = append(b.Requests, req)
	return nil
}

// parameter reads one of what may follow the URI of req, which is of burst b.
func (p *sessionParser) parameter(req *Request, b *Burst) error {
	at := p.pos
	key := p.key()
	switch key {
	case "method=":
		method := p.word()
		if !isToken(method) {
			return p.errorf(at, "method that is no token: want one such as GET")
		}
		if req.Method != "" {
			return p.errorf(at, "second method of a request: want one")
		}
		req.Method = method
	case "think=":
		think, ok := parseSeconds(p.word())
		if !ok {
			return p.errorf(at, "think time that is none: want a number of seconds or a duration such as 200ms, 0 or more")
		}
		b.Think, b.HasThink = think, true
	case "contents=", "body=":
		if req.Body != nil {
			return p.errorf(at, "second body of a request: want one, by contents= or body=")
		}
		if key == "body=" && p.pos < len(p.content) && p.content[p.pos] == '@' {
			p.pos++
			path, err := p.text()
			if err != nil {
				return err
			}
			if req.Body, err = p.bodies.get(string(path)); err != nil {
				return p.errorf(at, "%w", err)
			}
			break
		}
		text, err := p.text()
		if err != nil {
			return err
		}
		req.Body = text
	case "headers=":
		text, err := p.text()
		if err != nil {
			return err
		}
		fields, wrong := parseFields(text)
		if wrong != "" {
			return p.errorf(at, "%s", wrong)
		}
		req.Header = append(req.Header, fields...)
	default:
		return p.errorf(at, "%s: want method=, think=, contents=, body= or headers=, and quotes around a text with blanks", unknown(key))
	}
	return nil
}

// parseFields reads header lines with LF or CRLF between them. The second result
// is what is wrong, empty if nothing is.
func parseFields(text []byte) (fields []Field, wrong string) {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		f, wrong := parseField(bytes.TrimSuffix(line, []byte("\r")))
		if wrong != "" {
			return nil, wrong
		}
		fields = append(fields, f)
	}
	return fields, ""
}

// parseSeconds reads a decimal number of seconds or a Go duration, 0 or more.
func parseSeconds(s string) (time.Duration, bool) {
	if strings.Trim(s, "0123456789.") == "" {
		s += "s"
	}
	d, err := time.ParseDuration(s)
	return d, err == nil && d >= 0
}

// unknown names a parameter for an error. What is no mistyped name of one may be
// the rest of a text, on this line or one before, and is not shown.
func unknown(key string) string {
	name, ok := strings.CutSuffix(key, "=")
	if !ok || name == "" || len(name) > 16 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") != "" {
		return "unknown parameter"
	}
	return fmt.Sprintf("unknown parameter %q", key)
}

// key reads up to the first equals sign of a word, or all of a word without one.
func (p *sessionParser) key() string {
	var key []byte
	for c, ok := p.next(); ok; c, ok = p.next() {
		key = append(key, c)
		if c == '=' {
			break
		}
	}
	return string(key)
}

// word reads up to the next blank or the end of the line. It is empty where one
// of them comes first.
func (p *sessionParser) word() string {
	var word []byte
	for c, ok := p.next(); ok; c, ok = p.next() {
		word = append(word, c)
	}
	return string(word)
}

// next reads the next byte of a word, if there is one.
func (p *sessionParser) next() (c byte, ok bool) {
	for p.skipContinuation() {
	}
	if p.atLineEnd() || isBlank(p.content[p.pos]) {
		return 0, false
	}
	p.pos++
	return p.content[p.pos-1], true
}

// text reads a TEXT. It is never nil unless there is an error.
func (p *sessionParser) text() ([]byte, error) {
	text := []byte{}
	quote, opened := byte(0), 0
	for !p.atLineEnd() {
		c := p.content[p.pos]
		switch {
		case p.skipContinuation():
			text = append(text, '\n')
			continue
		case c == '\\':
			p.pos++
			if p.atLineEnd() { // of the file: it has no continuation
				return nil, p.errorf(p.pos-1, "backslash at the end of the file: want a character after it")
			}
			text = append(text, unescape(p.content[p.pos]))
		case quote == 0 && isBlank(c):
			return text, nil
		case quote == 0 && (c == '\'' || c == '"'):
			quote, opened = c, p.pos
		case c == quote:
			quote = 0
		default:
			text = append(text, c)
		}
		p.pos++
	}
	if quote != 0 {
		return nil, p.errorf(opened, `quote that its line does not close: want \n for a line end in a text`)
	}
	return text, nil
}

// unescape returns what c stands for after a backslash.
func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// skipBlanks skips blanks and continuations.
func (p *sessionParser) skipBlanks() {
	for !p.atLineEnd() {
		switch {
		case isBlank(p.content[p.pos]):
			p.pos++
		case !p.skipContinuation():
			return
		}
	}
}

// skipContinuation skips a backslash and the line end behind it, and says
// whether there were some.
func (p *sessionParser) skipContinuation() bool {
	rest := p.content[p.pos:]
	if !bytes.HasPrefix(rest, []byte("\\\n")) && !bytes.HasPrefix(rest, []byte("\\\r\n")) {
		return false
	}
	p.pos++
	p.endLine()
	return true
}

// atLineEnd says whether a line end, LF or CRLF, or the end of the file is next.
func (p *sessionParser) atLineEnd() bool {
	rest := p.content[p.pos:]
	return len(rest) == 0 || rest[0] == '\n' || bytes.HasPrefix(rest, []byte("\r\n"))
}

// endLine skips the line end that is next, if there is one.
func (p *sessionParser) endLine() {
	rest := p.content[p.pos:]
	if len(rest) > 0 && rest[0] == '\r' {
		p.pos++
	}
	if p.pos < len(p.content) {
		p.pos++
		p.line++
	}
}
