//go:build !linux

package client

import (
	"fmt"
	"runtime"
)

// newDriver chooses the engine of a loop.
func newDriver(*Client, int) (driver, error) {
	return nil, fmt.Errorf("%w: plain HTTP needs epoll, which %s has not; run on Linux", ErrUnsupported, runtime.GOOS)
}
