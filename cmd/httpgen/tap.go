package main

import (
	"bytes"
	"io"
	"strconv"
	"sync"

	"httpgen/client"
)

// longestLine bounds what is kept of a line that does not end; beyond it the
// line is printed in pieces.
const longestLine = 64 << 10

// tap prints requests and replies as httperf does: SHn: and SBn: in front of
// each line of the header and body of call n's request, RHn:, RBn: and RFn: (the
// trailer) in front of those of its reply, and SSn: and RSn: for their sizes. The
// empty line that ends a header is one of its lines.
type tap struct {
	request, reply part

	mu    sync.Mutex
	w     io.Writer
	err   error // of the first write that failed; nothing is written after it
	out   bytes.Buffer
	calls map[uint64]*tapped
}

// tapped is a call whose reply is not complete.
type tapped struct {
	part client.Part
	line []byte    // the line that has not ended yet
	size [3]uint64 // bytes by part
}

func newTap(w io.Writer, request, reply part) *tap {
	return &tap{w: w, request: request, reply: reply, calls: map[uint64]*tapped{}}
}

// Request implements client.Tap.
func (t *tap) Request(call uint64, data []byte) {
	if t.request == 0 {
		return
	}
	_, content, _ := bytes.Cut(data, []byte("\r\n\r\n"))
	n := len(data) - len(content)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.request&headerPart != 0 {
		t.lines("SH", call, data[:n])
	}
	if t.request&bodyPart != 0 {
		t.lines("SB", call, content)
	}
	t.prefix("SS", call)
	t.field(" header ", uint64(n))
	t.field(" content ", uint64(len(content)))
	t.out.WriteByte('\n')
	t.flush()
}

// Reply implements client.Tap.
func (t *tap) Reply(call uint64, part client.Part, data []byte, done bool) {
	if t.reply == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.calls[call]
	if c == nil {
		c = &tapped{}
		t.calls[call] = c
	}
	if part != c.part || done {
		t.end(call, c)
	}
	c.part = part
	c.size[part] += uint64(len(data))
	if t.wants(part) {
		c.line = append(c.line, data...)
		for {
			line, rest, ended := bytes.Cut(c.line, []byte("\n"))
			if !ended && len(c.line) < longestLine {
				break
			}
			t.line(prefixes[part], call, line)
			c.line = append(c.line[:0], rest...)
		}
	}
	if done {
		t.prefix("RS", call)
		t.field(" header ", c.size[client.HeaderPart])
		t.field(" content ", c.size[client.BodyPart])
		t.field(" footer ", c.size[client.TrailerPart])
		t.out.WriteByte('\n')
		delete(t.calls, call)
	}
	t.flush()
}

// close prints what is left of replies that were not completed, and returns the
// first error of all writes.
func (t *tap) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for call, c := range t.calls {
		t.end(call, c)
	}
	t.flush()
	return t.err
}

var prefixes = [...]string{client.HeaderPart: "RH", client.BodyPart: "RB", client.TrailerPart: "RF"}

func (t *tap) wants(p client.Part) bool {
	if p == client.HeaderPart {
		return t.reply&headerPart != 0
	}
	return t.reply&bodyPart != 0
}

// end prints a last line without a line end.
func (t *tap) end(call uint64, c *tapped) {
	if len(c.line) > 0 {
		t.line(prefixes[c.part], call, c.line)
		c.line = c.line[:0]
	}
}

func (t *tap) lines(kind string, call uint64, text []byte) {
	if len(text) == 0 {
		return
	}
	for line := range bytes.SplitSeq(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		t.line(kind, call, line)
	}
}

func (t *tap) line(kind string, call uint64, line []byte) {
	t.prefix(kind, call)
	t.out.Write(bytes.TrimSuffix(line, []byte("\r")))
	t.out.WriteByte('\n')
}

func (t *tap) prefix(kind string, call uint64) {
	t.field(kind, call)
	t.out.WriteByte(':')
}

func (t *tap) field(name string, n uint64) {
	t.out.WriteString(name)
	t.out.Write(strconv.AppendUint(t.out.AvailableBuffer(), n, 10))
}

func (t *tap) flush() {
	if t.err == nil && t.out.Len() > 0 {
		_, t.err = t.w.Write(t.out.Bytes())
	}
	t.out.Reset()
}
