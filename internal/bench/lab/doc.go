// Package lab is what the benchmark programs share: it builds the generators,
// starts servers and tools on cores of their own, and reads what they print
// and what they used.
//
// # Design
//
// The server has [ServerCore], whatever makes load has [ClientCore], and both
// are processes of their own, so that neither can take time from the other and
// the processor time of each is what the kernel says of it. Everything started
// here is bounded in time, by timeout(1) or by an option of its own, so that
// nothing outlives a program that was killed.
package lab
