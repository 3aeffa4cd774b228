//go:build !race

package http1

import "testing"

// TestFeedAllocs checks that no reply makes the parser allocate, whole or byte
// by byte, valid or not.
func TestFeedAllocs(t *testing.T) {
	var p Parser
	for _, c := range replyCases {
		in, _ := c.cut()
		p.MaxHeaderBytes = c.limit
		for _, step := range []int{max(len(in), 1), 1} {
			allocs := testing.AllocsPerRun(1, func() {
				p.Reset(c.head)
				for b := in; len(b) > 0; b = b[min(step, len(b)):] {
					if _, done, err := p.Feed(b[:min(step, len(b))]); done || err != nil {
						return
					}
				}
				if p.EOF() == ErrNoReply {
					return
				}
			})
			if allocs != 0 {
				t.Errorf("%s: %v allocations in pieces of %d, want 0", c.name, allocs, step)
			}
		}
	}
}
