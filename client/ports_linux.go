package client

import (
	"math/rand/v2"
	"syscall"

	"httpgen/internal/poll"
)

const (
	firstPort = 1024 // hog's range
	lastPort  = 65535
	// detour is for how many connections the ports at even offsets are left alone
	// once two in a row were taken.
	detour = 1024
	// manySources is from how many source addresses on the kernel's search is
	// short anyway: each has ports of its own, and naming one costs a system call.
	manySources = 16
)

// walk is how many local ports are tried one by one, at even and odd offsets.
var walk = [2]int{2, 16}

// ports hands out local ports one by one.
type ports struct {
	walks  bool   // Connect names ports; else the kernel searches
	low    uint16 // the range that they come from
	high   uint16
	ways   [2]uint16 // next ones at even and odd offsets
	detour int       // connections that leave the even ones alone
	hog    uint16    // next port of hog
}

// newPorts returns the ports of a stream on one loop.
func newPorts(s *Stream, loop int) ports {
	p := ports{hog: uint16(firstPort + loop)}
	if len(s.Sources) >= manySources {
		return p
	}
	if low, high := poll.LocalPortRange(); high > low && !s.Hog && s.Target.Unix == "" {
		p.low, p.high, p.walks = low, high, true
		// Loops and other processes begin elsewhere: they seldom meet.
		for i := range p.ways {
			p.ways[i] = low + uint16(rand.IntN(int(high-low)))&^1 + uint16(i)
		}
	}
	return p
}

// next returns the port to try next among those whose offset in the range is
// even or odd.
func (p *ports) next(parity int) uint16 {
	n := p.ways[parity]
	if p.high-n < 2 {
		p.ways[parity] = p.low + uint16(parity)
	} else {
		p.ways[parity] = n + 2
	}
	return n
}

// connect starts connecting fd. It names the local port where the kernel lets
// it: the kernel's own search begins anywhere, so that with many ports in use or
// in TIME_WAIT each connect passes over them, for up to a millisecond. Taken in
// turn, the next port is nearly always free. As in the kernel, ports at odd
// offsets are left to those who bind until the others run out.
func (p *ports) connect(fd int, a *poll.Addr) poll.Errno {
	if !p.walks {
		return poll.Connect(fd, a)
	}
	for parity := range 2 {
		if parity == 0 && p.detour > 0 {
			p.detour--
			continue
		}
		for range walk[parity] {
			n := p.next(parity)
			if e := poll.SetPortRange(fd, n, n); e != 0 {
				p.walks = false // before Linux 6.3
				return poll.Connect(fd, a)
			}
			if e := poll.Connect(fd, a); e != syscall.EADDRNOTAVAIL {
				return e
			}
		}
		if parity == 0 {
			p.detour = detour
		}
	}
	poll.SetPortRange(fd, 0, 0)
	return poll.Connect(fd, a)
}

// bind gives fd the local address src with hog's next port that is free.
func (p *ports) bind(fd int, src *poll.Addr) poll.Errno {
	a := *src
	for range lastPort - firstPort + 1 {
		a.SetPort(p.hog)
		if p.hog++; p.hog == 0 {
			p.hog = firstPort
		}
		if e := poll.Bind(fd, &a); e != syscall.EADDRINUSE {
			return e
		}
	}
	return syscall.EADDRNOTAVAIL
}
