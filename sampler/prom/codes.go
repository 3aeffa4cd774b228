package prom

import (
	"fmt"

	"httpgen/sampler"
)

// maxCodes is how many status codes have series of their own.
const maxCodes = 40

// knownCodes are shown from the start: an increase from nothing to the first
// reply is not seen by a server that has never met the series.
var knownCodes = []int{200, 204, 206, 301, 302, 304, 400, 401, 403, 404, 408, 429, 500, 502, 503, 504}

// codes says which status codes have series of their own.
type codes struct {
	kept   [1000]bool
	folded [1000]bool
	number int // of those kept
}

func newCodes() (c codes) {
	for _, code := range knownCodes {
		c.kept[code] = true
	}
	c.number = len(knownCodes)
	return c
}

// see keeps the codes of t while there is room, and returns how many it folded
// for the first time.
func (c *codes) see(t *sampler.Tally) (folded uint64) {
	for code, n := range t.Codes {
		switch {
		case n == 0 || c.kept[code] || c.folded[code]:
		case c.number < maxCodes:
			c.kept[code] = true
			c.number++
		default:
			c.folded[code] = true
			folded++
		}
	}
	return folded
}

// each calls add with the replies of t under each code that is kept, and with
// those of all others.
func (c *codes) each(t *sampler.Tally, add func(code string, n uint64)) {
	var rest uint64
	for code, n := range t.Codes {
		if c.kept[code] {
			add(fmt.Sprintf("%03d", code), n)
		} else {
			rest += n
		}
	}
	add(other, rest)
}
