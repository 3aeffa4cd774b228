// Command peers holds httpgen against the bare loop of internal/bench/bare and
// against httperf, wrk, ab, hey and vegeta, where they are installed.
//
//	go run ./internal/bench/peers [-rounds 5] [-only one,many,calls,pacing]
//
// All tools get the same nginx, which has a core of its own, take turns within
// a round, and are pinned to one core. Printed are the median over the rounds
// with its range, and httpgen's ratio to each, which is the median of the
// quotients within a round. Processor time is what the kernel charges the
// whole process, its start included.
package main
