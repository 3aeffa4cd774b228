package script

import (
	"bytes"
	"fmt"
)

// A source is a file that is being read. Offsets count bytes of content.
type source struct {
	name    string
	content []byte
}

func newSource(name string, content []byte) *source {
	return &source{name, bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))}
}

// errorf returns an error about what stands at offset.
func (s *source) errorf(offset int, format string, args ...any) error {
	before := s.content[:min(offset, len(s.content))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("%s:%d:%d: "+format, append([]any{s.name, line, column}, args...)...)
}

// lines walks through the lines of a source.
type lines struct {
	*source
	number int // of the current line, from 1
	start  int // offset of text
	text   []byte
	next   int // offset of the next line
}

// scan goes to the next line and says whether there is one. Its text is without
// the line end, LF or CRLF, and without the blanks on both sides.
func (l *lines) scan() bool {
	if l.next == len(l.content) {
		return false
	}
	l.number++
	l.start = l.next
	line, _, ended := bytes.Cut(l.content[l.start:], []byte("\n"))
	l.next += len(line)
	if ended {
		l.next++
	}
	line = bytes.TrimSuffix(line, []byte("\r"))
	l.text = bytes.TrimLeft(line, blanks)
	l.start += len(line) - len(l.text)
	l.text = bytes.TrimRight(l.text, blanks)
	return true
}
