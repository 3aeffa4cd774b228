package main

import (
	"fmt"
	"io"
	"os"
)

// fileLimit is how large a file that is read whole may be.
const fileLimit = 1 << 30

// readFile reads a file whole. One that never ends is refused.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if i, err := f.Stat(); err == nil && i.Mode()&os.ModeDevice != 0 {
		return nil, fmt.Errorf("%s: a device, want a file", name)
	}
	b, err := io.ReadAll(io.LimitReader(f, fileLimit+1))
	if err == nil && len(b) > fileLimit {
		err = fmt.Errorf("%s: more than %d bytes", name, fileLimit)
	}
	return b, err
}
