// Package target is httpgen's built-in HTTP/1.1 server. Its answer is known in
// advance: it serves a set number of requests at once, each for a set time, so
// what it can do per second is arithmetic, and a generator's result can be
// checked against it. It can also misbehave on purpose: freeze, say nothing,
// not accept, refuse or reset what exceeds its queue.
//
// Instead of workers it can have a capacity: R requests a second begin their
// service, however long that takes, so saturated it serves R/s. In a time T no
// more than R x T + 11 begin: ten permissions that nobody used are kept.
//
// A capacity can collapse when more is offered, see [Collapse]. Offered a x R,
// with a from 1 to 2, the server then serves R x (1 - (1 - Kept) x (a - 1)) and
// resets the rest at once.
//
// Sources can have shares. Each then has a queue of its own, and what exceeds it
// is reset. The next service goes to the source with the fewest services for
// its weight, of those that wait. So who asks for less than its share gets it
// all, and the others get services exactly as their weights say: with 1:3:6,
// 10, 30 and 60 %.
//
// Without shares there is one queue, whose room goes to whoever comes first.
// Each source gets its part of all that is offered, on average; where clients
// send at equal distances, their phases may give all the room to one of them.
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
// and three of 1 ms give 2649/s, where 100 and 3000 were meant. The limiter of a
// capacity does not sleep either: it runs on a clock of the loop's, a permission
// is taken in advance, and the service is dated to its instant.
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
