// Package client carries arrivals to servers: it opens connections when a
// schedule says so, whatever the server does, and records what came of them.
//
// A [Client] has one or more streams, each one logical client of the run with
// its own schedule, target, workload and source addresses. It spreads them over
// loops; a loop is one goroutine on one thread that owns its connections, its
// timers and its recorder.
//
// # Design
//
// A loop holds the state machine of its connections and knows no kernel; an
// engine moves the bytes. The epoll engine (Linux, in the clear) drives raw
// non-blocking sockets: one epoll registration a connection, edge triggered, and
// no system call that could be avoided, since the kernel's part (35 to 60 us a
// connection) is the limit and everything else is a few per cent of it. The net
// engine (TLS, and every other platform) has a goroutine a connection, which
// connects, shakes hands and reads, and tells the loop. One conformance suite
// runs over both. Three things cross between goroutines of the epoll engine: the
// immutable options at the start, a page of records once a window, and the stop.
//
// An arrival is a job, which asks its workload for calls and gives them to its
// connections. A plain arrival is over with its connection. A session opens
// further ones, first fit, and goes on with the calls that a connection left
// unanswered when the peer ended it between two replies. With HTTP/1 the calls on
// a connection are pipelined; with HTTP/2 each is an h2 stream, and one connection
// of a pool carries those of many arrivals.
//
// A pass of a loop does, in this order: start the arrivals that are due (at
// most maxStarts, so that replies are read in between); sleep until the next
// thing is due, polling for the last stretch; handle what became ready; expire
// timers. Ready sockets come before timers: after a stall of the generator
// itself a reply that is already there is not called a timeout. Between two
// ready sockets the schedule is looked at again, unless the loop is behind
// anyway.
package client
