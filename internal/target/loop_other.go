//go:build !linux

package target

import (
	"errors"
	"net/netip"
)

type loop struct{}

func startLoop(Options, string, netip.AddrPort) (*loop, int, error) {
	return nil, 0, errors.New("target: the built-in server needs Linux (epoll)")
}

func (l *loop) stop() {}

func (l *loop) stats() Stats { return Stats{} }
