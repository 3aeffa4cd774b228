package client

import (
	"bytes"
	"strconv"
)

// Expand replaces placeholders of requests for each call: {seq} by the number of
// the call in the run, from 0; {rand} by a random number of 64 bits in 16
// hexadecimal digits; {client} by Client. Calls of several arrivals never have
// the same {seq}; a session that makes fewer calls than the longest leaves a gap.
type Expand struct {
	Seed   uint64 // of {rand}: the same seed and call give the same number
	Client int
}

// A part of a header section: text, and what follows it.
type part struct {
	text []byte
	what placeholder
}

type placeholder uint8

const (
	nothing placeholder = iota
	seqNumber
	randNumber
	clientNumber
)

var placeholders = []struct {
	text []byte
	what placeholder
}{{[]byte("{seq}"), seqNumber}, {[]byte("{rand}"), randNumber}, {[]byte("{client}"), clientNumber}}

// split returns the parts of a header section, nil if it has no placeholder. What
// is before from is text.
func (e *Expand) split(b []byte, from int) []part {
	var parts []part
	start := 0
next:
	for i := from; i < len(b); {
		for _, p := range placeholders {
			if bytes.HasPrefix(b[i:], p.text) {
				parts = append(parts, part{b[start:i], p.what})
				i += len(p.text)
				start = i
				continue next
			}
		}
		i++
	}
	if parts == nil {
		return nil
	}
	return append(parts, part{b[start:], nothing})
}

// expand returns what is sent for a call of s.
func (l *loop) expand(r *Request, s *Session) []byte {
	if r.parts == nil {
		return r.bytes
	}
	var b []byte
	if n := len(l.buffers); n > 0 {
		b = l.buffers[n-1]
		l.buffers = l.buffers[:n-1]
	}
	for i := range r.parts {
		p := &r.parts[i]
		b = append(b, p.text...)
		switch p.what {
		case seqNumber:
			b = strconv.AppendUint(b, s.Seq, 10)
		case randNumber:
			b = appendHex(b, mix(r.expand.Seed^mix(s.Seq+1)))
		case clientNumber:
			b = strconv.AppendInt(b, int64(r.expand.Client), 10)
		}
	}
	return append(b, r.bytes[r.end:]...)
}

// giveBack takes the buffer of a call that is over.
func (l *loop) giveBack(k *call) {
	if k.req != nil && k.req.parts != nil {
		l.buffers = append(l.buffers, k.bytes[:0])
	}
}

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// appendHex appends x in 16 hexadecimal digits.
func appendHex(b []byte, x uint64) []byte {
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[x>>shift&15])
	}
	return b
}
