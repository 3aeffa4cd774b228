package wire

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// parse reads the lines of tcpdump -tt -S. A segment that was seen before, a
// retransmission, is left out.
func parse(r io.Reader) (Trace, error) {
	var t Trace
	seen := map[string]bool{}
	s := bufio.NewScanner(r)
	for s.Scan() {
		words := strings.Fields(s.Text())
		seq := slices.Index(words, "seq")
		if len(words) < 6 || seq < 0 || seq+1 == len(words) {
			continue
		}
		key := words[2] + " " + words[4] + " " + words[seq+1]
		if seen[key] {
			continue
		}
		seen[key] = true
		at, err := stamp(words[0])
		if err != nil {
			return nil, err
		}
		t = append(t, at)
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("wire: read the capture: %w", err)
	}
	slices.Sort(t)
	return t, nil
}

// stamp reads seconds since 1970 with up to nine decimals. A float64 has not
// enough digits for them.
func stamp(s string) (time.Duration, error) {
	whole, fraction, _ := strings.Cut(s, ".")
	seconds, err := strconv.ParseUint(whole, 10, 32)
	if err == nil && len(fraction) > 9 {
		err = strconv.ErrRange
	}
	var nanos uint64
	if err == nil {
		nanos, err = strconv.ParseUint((fraction + "000000000")[:9], 10, 32)
	}
	if err != nil {
		return 0, fmt.Errorf("wire: timestamp %q: %w", s, err)
	}
	return time.Duration(seconds)*time.Second + time.Duration(nanos), nil
}

// dropped returns the segments that the kernel says it could not hand over,
// from what tcpdump prints at its end.
func dropped(stderr string) int {
	for line := range strings.Lines(stderr) {
		if n, ok := strings.CutSuffix(strings.TrimSpace(line), " packets dropped by kernel"); ok {
			if n, err := strconv.Atoi(n); err == nil {
				return n
			}
		}
	}
	return 0
}
