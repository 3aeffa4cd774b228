package report

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Details are what a text shows beside the report when it is asked to. Each
// part stands where httperf has it. The zero value is the report alone.
type Details struct {
	Verbose  int  // from 1 on each sample of the reply rate, from 2 on a histogram of the connections' lifetimes too
	Periodic bool // how many replies had the status 200 and how many 302
}

// Classic writes httperf's report and nothing else: the same heads in the same
// order, for scripts that read httperf's output.
//
// The definitions are httperf's, with these differences: sizes have true
// decimals, the median does not come from bins of 1 ms, connect leaves refused
// connections out, addrunavail is counted, and what counts as a reply or an
// error follows Totals.
func (d Details) Classic(w io.Writer, r *Result) error {
	c := clean(*r)
	var b strings.Builder
	classic(&b, &c, d)
	return write(w, b.String())
}

// Text writes what Classic does and below it what httperf does not know: the
// model, the offered rate, percentiles, the generator's own delay, what became
// of every arrival, the streams, and last the verdict with its reasons.
func (d Details) Text(w io.Writer, r *Result) error {
	c := clean(*r)
	var b strings.Builder
	classic(&b, &c, d)
	ownBlock(&b, &c)
	return write(w, b.String())
}

// sampleLines prints the samples that the reply rate was computed of.
func sampleLines(b *strings.Builder, r *Result) {
	merge := 1
	if base := r.Config.BaseWindowSeconds; base > 0 {
		merge = max(1, int(math.Round(r.Config.WindowSeconds/base)))
	}
	// Windows behind the last sample are those of the drain.
	for n, rest := uint64(0), r.Windows; n < r.Rates.Replies.Samples && len(rest) >= merge; n++ {
		var replies uint64
		for _, w := range rest[:merge] {
			replies += w.Replies
		}
		rest = rest[merge:]
		fmt.Fprintf(b, "reply-rate = %-8.1f\n", Per(replies, r.Config.WindowSeconds))
	}
}

// lifetimeLines prints a histogram of the connections' lifetimes in bins of a
// millisecond: the middle of each bin that is not empty, and a colon for those
// in front of it that are.
func lifetimeLines(b *strings.Builder, encoded string) {
	b.WriteString("\nConnection lifetime histogram (time in ms):\n")
	if encoded == "" {
		return
	}
	h, err := hdrhistogram.Decode([]byte(encoded))
	if err != nil {
		return // The text of no run of ours; the report is worth more than its histogram.
	}
	last, n := int64(-1), int64(0)
	flush := func() {
		if n > 0 {
			fmt.Fprintf(b, "%16.1f %d\n", float64(last)+0.5, n)
		}
	}
	for _, bar := range h.Distribution() {
		if bar.Count == 0 {
			continue
		}
		bin := bar.From / int64(time.Millisecond)
		if bin != last {
			flush()
			if bin != last+1 {
				fmt.Fprintf(b, "%14s\n", ":")
			}
			last, n = bin, 0
		}
		n += bar.Count
	}
	flush()
}

func periodicLine(b *strings.Builder, t *Totals) {
	fmt.Fprintf(b, "Periodic stats: 200=%d 302=%d\n\n", t.Codes["200"], t.Codes["302"])
}
