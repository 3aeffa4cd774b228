//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "bare: only Linux has what it needs")
	os.Exit(1)
}
