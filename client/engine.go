package client

import (
	"time"

	"httpgen/sampler"
)

// An engine moves bytes for a loop. It answers through the loop's methods
// connected, connectFailed, writable, received and hungUp, and calls them only
// from within handle and drain, on the loop's goroutine.
type engine interface {
	// prepare takes what the system has to give before anything starts.
	prepare() error
	// close gives it back.
	close()
	// dial starts connecting c to the address that it names, and calls attempt
	// just before. A class other than OK means that it failed at once.
	dial(c *conn) sampler.Class
	// write sends from b and returns how much was taken; none with the class OK
	// means that writable will be called when there is room.
	write(c *conn, b []byte) (int, sampler.Class)
	// drain reads what has arrived on c, to its end.
	drain(c *conn)
	// hang closes c.
	hang(c *conn)
	// poll waits for at most d, not at all when d is 0 or less, and returns how
	// many events there are to handle; more says that there may be further ones.
	poll(d time.Duration) (n int, more bool, err error)
	// handle handles event i of the last poll.
	handle(i int)
	// wake ends a poll early. Any goroutine may call it.
	wake()
}
