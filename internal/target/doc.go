// Package target is httpgen's built-in HTTP/1.1 server. Its answer is known in
// advance: it serves a set number of requests at once, each for a set time, so
// what it can do per second is arithmetic, and a generator's result can be
// checked against it. It can also misbehave on purpose: freeze, say nothing,
// not accept, refuse or reset what exceeds its queue.
//
// # Design
//
// One goroutine on its own thread runs an epoll loop and owns every
// connection. There is no goroutine, channel or allocation per connection or
// request. A mutex is held while the loop works and given up while it waits, so
// that [Server.Stats] reads counters that agree with each other.
//
// A service ends at an absolute instant. A worker that ends at E and finds a
// request waiting starts it at E, however late the loop noticed, so lateness
// never adds up. With relative sleeps one worker of 10 ms gives 97.5 replies/s
// and three of 1 ms give 2649/s, where 100 and 3000 were meant.
//
// A connection serves one request at a time. Requests that were pipelined
// behind it wait in the connection's buffer or in the kernel, and are answered
// in order.
//
// Replies are built once and hold no date: every ordinary reply of a server is
// the same bytes but for its Connection line, so byte counts are known too.
//
// A new connection is read before it is given to epoll. A client that already
// sent its whole request and wants no other is answered and closed without an
// epoll_ctl call.
package target
