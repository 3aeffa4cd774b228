package accesslog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxLine bounds a line, in bytes. Servers take request lines and header fields
// of 8 KiB by default; three of them with every byte written as \xHH are 96 KiB.
const maxLine = 128 << 10

var errLong = errors.New("line too long")

// lines reads the lines of a file without moving the file's own position.
type lines struct {
	file *os.File
	end  int64 // bytes of the file that are read at most
	off  int64 // place of the next line in the file
	buf  []byte
	lo   int // buf[lo:hi] is read and not returned; it begins at off
	hi   int
}

func newLines(file *os.File, end int64) lines {
	return lines{file: file, end: end, buf: make([]byte, maxLine)}
}

// seek makes the line at off the next one.
func (l *lines) seek(off int64) {
	if off != l.off {
		l.off, l.lo, l.hi = off, 0, 0
	}
}

// next returns the next line without its end, and io.EOF after the last one.
// whole is false for a last line that has no end. The line is valid, and may be
// changed, until the next call.
func (l *lines) next() (line []byte, whole bool, err error) {
	for {
		if i := bytes.IndexByte(l.buf[l.lo:l.hi], '\n'); i >= 0 {
			return bytes.TrimSuffix(l.take(i+1), []byte("\n")), true, nil
		}
		rest := l.hi - l.lo
		read := l.off + int64(rest)
		switch {
		case read == l.end && rest == 0:
			return nil, false, io.EOF
		case read == l.end:
			return l.take(rest), false, nil
		case rest == len(l.buf):
			return l.buf, false, errLong
		}
		copy(l.buf, l.buf[l.lo:l.hi])
		l.lo, l.hi = 0, rest
		room := l.buf[rest:]
		if left := l.end - read; int64(len(room)) > left {
			room = room[:left]
		}
		n, err := l.file.ReadAt(room, read)
		if n == 0 {
			if err == io.EOF {
				err = fmt.Errorf("%s: ends after %d bytes, it had %d when it was opened", l.file.Name(), read, l.end)
			}
			return nil, false, err
		}
		l.hi += n
	}
}

// take returns the next n bytes of the buffer as read.
func (l *lines) take(n int) []byte {
	b := l.buf[l.lo : l.lo+n]
	l.lo += n
	l.off += int64(n)
	return b
}
