package accesslog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// Options says how a log is read. Every field may be left zero.
type Options struct {
	// Spread puts the requests of each second evenly over it, where all stamps
	// are whole seconds. Without it, and in a log that has any fraction of a
	// second, the times are those of the log.
	Spread bool
}

// Skipped counts the lines that were left out.
type Skipped struct {
	NotHTTP   uint64 // no request of HTTP: "-", a TLS greeting, a method alone
	Unusable  uint64 // cannot be sent: blanks or control characters in the target or in a header field
	Truncated uint64 // a last line without its end that is not in the format: 0 or 1
}

// A Log is an access log that is open for replay. Its methods may be called
// from any goroutine.
type Log struct {
	file   *os.File
	size   int64 // bytes at Open
	spread bool

	n          uint64 // requests
	first      int64  // time of the first request, Unix nanoseconds
	last       int64  // when the last one takes place
	index      []int64
	disordered uint64
	skipped    Skipped

	mu    sync.Mutex // guards what follows
	in    cursor     // reads blocks
	cache cache
}

// Open reads the log once, to check it and to learn its length. The log must
// be a regular file.
func Open(name string, o Options) (*Log, error) {
	l, err := open(name, o)
	if err != nil {
		return nil, fmt.Errorf("accesslog: %w", err)
	}
	return l, nil
}

func open(name string, o Options) (*Log, error) {
	if plain, ok := strings.CutSuffix(name, ".gz"); ok {
		return nil, fmt.Errorf("%s: compressed: want a plain log (zcat %s > %s)", name, name, plain)
	}
	// Opening a pipe would wait for its writer, and a pipe cannot be read twice.
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %s: want a regular file", name, kind(info.Mode()))
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	l := &Log{file: file, size: info.Size()}
	if err := l.measure(o); err != nil {
		file.Close()
		return nil, err
	}
	return l, nil
}

// kind names a file that is not a regular one.
func kind(m os.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&os.ModeNamedPipe != 0:
		return "a pipe"
	case m&os.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// measure goes through the log once.
func (l *Log) measure(o Options) error {
	l.in = newCursor(l.file, l.size)
	c := &l.in
	fraction := false
	for {
		err := c.next()
		if err == io.EOF {
			break
		}
		if m, ok := errors.AsType[*malformed](err); ok {
			return fmt.Errorf("%s:%d:%w", l.file.Name(), c.line, m)
		}
		if err != nil {
			return err
		}
		if c.n == 1 {
			l.first = c.at
		}
		if c.n%blockSize == 1 {
			l.index = append(l.index, c.begin)
		}
		fraction = fraction || c.fraction
	}
	l.n, l.last, l.disordered, l.skipped = c.n, c.at, c.disordered, c.skipped
	l.spread = o.Spread && !fraction
	if l.n == 0 {
		return fmt.Errorf("%s: no request in %d lines (%d not HTTP, %d unusable, %d truncated): want at least one",
			l.file.Name(), c.line, l.skipped.NotHTTP, l.skipped.Unusable, l.skipped.Truncated)
	}
	return nil
}

// Close closes the file. Schedules that are not finished and requests that are
// not at hand then fail.
func (l *Log) Close() error { return l.file.Close() }

// Len returns how many requests the log has, at least one.
func (l *Log) Len() uint64 { return l.n }

// Span returns how long after the first request the last one took place, as
// logged.
func (l *Log) Span() time.Duration { return time.Duration(l.last - l.first) }

// Skipped returns what was left out.
func (l *Log) Skipped() Skipped { return l.skipped }

// Disordered returns how many requests were logged with an earlier time than
// one before them, and therefore take place at that one's.
func (l *Log) Disordered() uint64 { return l.disordered }

// changed says that the file is no longer what Open read.
func (l *Log) changed(off int64) error {
	return fmt.Errorf("%s: changed near byte %d since it was opened: want a log that at most grows", l.file.Name(), off)
}

// reread returns why the next request could not be read again from the log,
// with the cursor's place where that is the file's change.
func (l *Log) reread(c *cursor, err error) error {
	if _, ok := errors.AsType[*malformed](err); ok || err == io.EOF {
		return l.changed(c.begin)
	}
	return err
}
