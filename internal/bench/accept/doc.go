// Command accept checks that httpgen keeps what it promises: complete accounts,
// honest latencies, precise pacing, speed, and an end on time, against servers
// whose answer is known.
//
//	go run ./internal/bench/accept [-only NAME[,NAME]] [-runs N]
//
// Each check prints its figures, one a line: name, value, limit, and whether it
// holds. A figure that is only shown has no limit. The exit code is 1 when one
// fell short. The server runs on core 0, httpgen on core 1; on a machine that
// does other work as well the figures about time say little.
package main
