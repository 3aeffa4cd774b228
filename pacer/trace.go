package pacer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"time"
)

// Trace replays recorded offsets. Several arrivals at one instant are legal.
// Its rate is its mean.
//
// A trace from a file is one offset a line, in order: a number of seconds or a
// Go duration. A '#' starts a comment; blank lines are skipped. Its schedules
// read the file as they go, in constant memory, and hold it open until they
// end; one that is given up early implements io.Closer.
type Trace struct {
	path    string // of the file; else offsets holds the arrivals
	offsets []time.Duration
	speed   float64

	n     uint64        // arrivals
	first time.Duration // at speed
	last  time.Duration // at speed
}

// OpenTrace returns the trace in a regular file, replayed at speed: at 2 in
// half the time. It reads the file once, to check it and to learn its length.
func OpenTrace(path string, speed float64) (*Trace, error) {
	t := &Trace{path: path, speed: speed}
	if err := t.measure(); err != nil {
		return nil, fmt.Errorf("pacer: %w", err)
	}
	return t, nil
}

// NewTrace returns a trace of offsets, replayed at speed: at 2 in half the
// time. It keeps the slice, which must not be changed any more.
func NewTrace(offsets []time.Duration, speed float64) (*Trace, error) {
	t := &Trace{offsets: offsets, speed: speed}
	if err := t.measure(); err != nil {
		return nil, fmt.Errorf("pacer: %w", err)
	}
	return t, nil
}

// measure draws the trace once.
func (t *Trace) measure() error {
	if !(t.speed > 0) || math.IsInf(t.speed, 1) {
		return fmt.Errorf("trace %s: speed %v: want a number above 0", t.name(), t.speed)
	}
	s := t.open()
	for {
		at, ok := s.next()
		if !ok {
			break
		}
		if t.n == 0 {
			t.first = at
		}
		t.last = at
		t.n++
	}
	if s.err != nil {
		return s.err
	}
	if t.n == 0 {
		return fmt.Errorf("trace %s: no arrivals: want one offset a line", t.name())
	}
	return nil
}

// name is what errors call the trace.
func (t *Trace) name() string {
	if t.path == "" {
		return "in memory"
	}
	return t.path
}

// Schedule implements Process. The seed is not used.
func (t *Trace) Schedule(shard, shards int, _ uint64) Schedule {
	checkShard(shard, shards)
	s := t.open()
	s.skip, s.others = uint64(shard), uint64(shards)-1
	return s
}

// Rate implements Process: it is the mean of the whole trace, 0 when all its
// arrivals are at one instant.
func (t *Trace) Rate(time.Duration) float64 {
	if t.last == t.first {
		return 0
	}
	return float64(t.n-1) / (t.last - t.first).Seconds()
}

// String returns t as Parse reads it, such as trace:arrivals.txt@2x. A trace in
// memory has no such form.
func (t *Trace) String() string {
	if t.path == "" {
		return fmt.Sprintf("trace of %d arrivals", t.n)
	}
	_, _, speed := cutSpeed(t.path)
	_, _, bound := cutBound(t.path)
	if t.speed == 1 && !speed && !bound {
		return "trace:" + t.path
	}
	return "trace:" + t.path + "@" + strconv.FormatFloat(t.speed, 'f', -1, 64) + "x"
}

// after returns the instant one mean gap after at.
func (t *Trace) after(at time.Duration) time.Duration {
	gap := time.Duration(1)
	if t.n > 1 {
		gap = max(gap, (t.last-t.first)/time.Duration(t.n-1))
	}
	return at + min(gap, math.MaxInt64-at)
}

// open returns the schedule of all arrivals; an error is in the schedule.
func (t *Trace) open() *traceSchedule {
	s := &traceSchedule{t: t}
	if t.path == "" {
		return s
	}
	// Opening a pipe would wait for its writer, and a pipe cannot be read twice.
	info, err := os.Stat(t.path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: want a regular file", t.path)
	}
	if err == nil {
		s.file, err = os.Open(t.path)
	}
	if err != nil {
		s.fail(fmt.Errorf("trace: %w", err))
		return s
	}
	s.lines = bufio.NewScanner(s.file)
	return s
}

type traceSchedule struct {
	t     *Trace
	file  *os.File
	lines *bufio.Scanner
	line  int // number of the last line read, from 1

	index  uint64        // of the next arrival
	prev   time.Duration // offset before it, as recorded
	skip   uint64        // arrivals of other parts before the next of this one
	others uint64        // parts beside this one
	done   bool
	err    error
}

func (s *traceSchedule) Next() (uint64, time.Duration, bool) {
	for {
		index := s.index
		at, ok := s.next()
		if !ok {
			return 0, 0, false
		}
		if s.skip == 0 {
			s.skip = s.others
			return index, at, true
		}
		s.skip--
	}
}

// next returns the next arrival of the whole trace.
func (s *traceSchedule) next() (time.Duration, bool) {
	if s.done {
		return 0, false
	}
	d, ok, err := s.read()
	if err == nil && ok {
		switch {
		case d < 0:
			err = fmt.Errorf("offset %s: want 0 or more", d)
		case d < s.prev:
			err = fmt.Errorf("offset %s after %s: want offsets in order", d, s.prev)
		}
	}
	at := d
	if s.t.speed != 1 && err == nil {
		scaled := float64(d) / s.t.speed
		if scaled >= math.MaxInt64 {
			err = fmt.Errorf("offset %s at speed %v: want less than %s", d, s.t.speed, time.Duration(math.MaxInt64))
		}
		at = time.Duration(scaled)
	}
	switch {
	case err != nil:
		s.fail(fmt.Errorf("trace %s: %w", s.where(), err))
		return 0, false
	case !ok && s.index < s.t.n:
		s.fail(fmt.Errorf("trace %s: ends after %d arrivals, it had %d when it was opened", s.t.name(), s.index, s.t.n))
		return 0, false
	case !ok:
		s.Close()
		return 0, false
	}
	s.prev = d
	s.index++
	return at, true
}

// read returns the next offset as recorded.
func (s *traceSchedule) read() (d time.Duration, ok bool, err error) {
	if s.t.path == "" {
		if s.index == uint64(len(s.t.offsets)) {
			return 0, false, nil
		}
		return s.t.offsets[s.index], true, nil
	}
	for s.lines.Scan() {
		s.line++
		line, _, _ := bytes.Cut(s.lines.Bytes(), []byte("#"))
		if line = bytes.TrimSpace(line); len(line) > 0 {
			d, err = parseSeconds(string(line))
			if err != nil {
				err = fmt.Errorf("offset %q: %w", line, err)
			}
			return d, err == nil, err
		}
	}
	if err = s.lines.Err(); err != nil {
		s.line++
		if errors.Is(err, bufio.ErrTooLong) {
			err = errors.New("line too long: want one offset a line")
		}
	}
	return 0, false, err
}

// where names the arrival or line that was read last.
func (s *traceSchedule) where() string {
	if s.t.path == "" {
		return fmt.Sprintf("in memory, arrival %d", s.index)
	}
	return fmt.Sprintf("%s:%d", s.t.path, s.line)
}

func (s *traceSchedule) fail(err error) {
	s.err = err
	s.Close()
}

func (s *traceSchedule) Err() error {
	if s.err == nil {
		return nil
	}
	return fmt.Errorf("pacer: %w", s.err)
}

// Close ends the schedule and closes its file.
func (s *traceSchedule) Close() error {
	s.done = true
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.Close()
}
