package accesslog

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// A cursor goes through the requests of a log.
type cursor struct {
	lines
	record
	begin int64  // place of the record's line in the file
	line  int    // its number, from 1, when the cursor began with the first
	n     uint64 // requests so far
	at    int64  // when the record takes place: its time or the latest before it, Unix nanoseconds

	disordered uint64
	skipped    Skipped
}

func newCursor(file *os.File, end int64) cursor {
	return cursor{lines: newLines(file, end)}
}

// next goes to the next request. After the last one it returns io.EOF; a line
// that is not in the format is a *malformed.
func (c *cursor) next() error {
	for {
		c.begin = c.off
		line, whole, err := c.lines.next()
		if err == io.EOF {
			return err
		}
		c.line++
		if err == errLong {
			return wrong(line, 0, fmt.Sprintf("a line of less than %d bytes", maxLine))
		}
		if err != nil {
			return err
		}
		if line = bytes.TrimSuffix(line, []byte("\r")); len(line) == 0 {
			continue
		}
		what, err := c.parse(line)
		switch {
		case err != nil && !whole:
			c.skipped.Truncated++
			return io.EOF
		case err != nil:
			return err
		case what == notHTTP:
			c.skipped.NotHTTP++
		case what == unusable:
			c.skipped.Unusable++
		default:
			c.place()
			return nil
		}
	}
}

// place sets when the record takes place.
func (c *cursor) place() {
	switch {
	case c.n == 0 || c.time >= c.at:
		c.at = c.time
	default:
		c.disordered++
	}
	c.n++
}
