package script

import (
	"bytes"
	"strings"
)

// maxRequests bounds the requests of a file, and so its sessions. The shortest
// takes two bytes of the file and up to 256 here: 256 MiB in all, and as much
// again while they are read.
const maxRequests = 1 << 20

// blanks are what may stand between two words of a line.
const blanks = " \t"

// A Field is one header line: a token and a value without control characters
// but HTAB (RFC 9110, 5.5).
type Field struct {
	Name  string
	Value string
}

// A Request is one request as a file describes it.
type Request struct {
	Method string  // a token, sent as it is; empty: the default of the run
	URI    string  // request target, as sent: no blanks or control characters
	Header []Field // in the order of the file
	Body   []byte  // nil: none. Requests share the bytes of a file, which must not be changed
	Host   string  // authority named by the file, host or host:port; empty: none
	Scheme string  // "http" or "https" where the file names it; empty: none
	Line   int     // where the file has it, from 1; of an archive the number of the entry
}

// isToken reports whether s is a token (RFC 9110, 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		if !isTokenByte(s[i]) {
			return false
		}
	}
	return s != ""
}

func isTokenByte(c byte) bool {
	return isAlphanumeric(c) || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

func isControl(c byte) bool { return c < ' ' || c == 0x7f }

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// isUnbroken reports whether s has neither blanks nor control characters.
func isUnbroken(s string) bool {
	for i := range len(s) {
		if s[i] == ' ' || isControl(s[i]) {
			return false
		}
	}
	return true
}

// check returns what is wrong with f and what was wanted, empty if nothing is.
func (f Field) check() string {
	if !isToken(f.Name) {
		return "header name that is no token: want one such as Accept"
	}
	for i := range len(f.Value) {
		if isControl(f.Value[i]) && f.Value[i] != '\t' {
			return "header value with a control character: want none but HTAB"
		}
	}
	return ""
}

// parseField reads a header line without its line end. The second result is what
// is wrong with it, empty if nothing is.
func parseField(line []byte) (Field, string) {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		return Field{}, "header line without a colon: want Name: value"
	}
	f := Field{string(name), string(bytes.Trim(value, blanks))}
	return f, f.check()
}
