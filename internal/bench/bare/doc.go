// Command bare is the least that an HTTP load generator can do on Linux: raw
// sockets on one epoll, no parser, no accounting. What it reaches is the
// practical limit of a core; httpgen is held against it.
//
//	bare -addr 127.0.0.1:8081 -path /test.html -rate 60000 -n 15000 [-rst] [-sources 64]
//	bare -addr 127.0.0.1:8081 -path /test.html -closed 50 -d 3s
//
// The first opens new connections at a rate, whatever the server does, one call
// each; the second makes one call after another on kept-open connections. Run
// it pinned to one core, the server on another. From one source address ports
// in TIME_WAIT slow it down: let them drain first.
//
// It prints one line of key=value pairs; times are in microseconds, processor
// time is per completed call.
package main
