// Package wire tells how precisely a load generator starts its arrivals, seen
// from outside: it captures the segments that reach a port on the loopback
// interface, with the kernel's timestamps, and holds them against the schedule
// that was asked for.
//
// # Design
//
// [Capture] runs tcpdump on the server's core, so that it takes nothing from
// the generator's. A [Trace] is what it saw, each arrival once; everything
// else is arithmetic on a Trace and needs no network.
package wire
