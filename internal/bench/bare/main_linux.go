package main

import (
	"flag"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"time"

	"httpgen/internal/poll"
)

// maxConns is how many descriptors the loops can tell apart.
const maxConns = 1 << 17

// config is the command line.
type config struct {
	server  poll.Addr
	request []byte
	rate    float64       // new connections per second
	count   int           // connections in all, open loop
	length  time.Duration // of the closed loop
	closed  int           // kept-open connections; 0 is the open loop
	spin    time.Duration // polled instead of slept before an arrival
	reset   bool          // close with a reset
	sources []poll.Addr   // used in turn; empty leaves the choice to the kernel
}

func main() {
	c, err := parse(os.Args[1:])
	if err == nil {
		err = c.run()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "bare: %v\n", err)
		os.Exit(1)
	}
}

func parse(args []string) (*config, error) {
	f := flag.NewFlagSet("bare", flag.ExitOnError)
	addr := f.String("addr", "127.0.0.1:8081", "server, IPv4 `address` and port")
	path := f.String("path", "/", "request `path`")
	rate := f.Float64("rate", 5000, "new connections per second")
	count := f.Int("n", 0, "connections in all; 0 means as many as the rate gives in -d")
	length := f.Duration("d", 3*time.Second, "how long to send")
	closed := f.Int("closed", 0, "kept-open connections in a closed loop; 0 means an open loop, one call a connection")
	spin := f.Duration("spin", 100*time.Microsecond, "poll instead of sleeping this long before an arrival")
	reset := f.Bool("rst", false, "close with a reset")
	sources := f.Int("sources", 1, "source addresses, 127.0.1.1 and on")
	f.Parse(args)
	ap, err := netip.ParseAddrPort(*addr)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", *addr, err)
	}
	c := &config{
		request: []byte("GET " + *path + " HTTP/1.1\r\nHost: " + *addr + "\r\n\r\n"),
		rate:    *rate, count: *count, length: *length, closed: *closed, spin: *spin, reset: *reset,
	}
	switch {
	case f.NArg() > 0:
		return nil, fmt.Errorf("argument %q: want flags only", f.Arg(0))
	case !(c.rate > 0) || c.count < 0 || c.closed < 0 || c.length <= 0:
		return nil, fmt.Errorf("rate %v, n %d, closed %d, d %v: want a rate and a length above 0", c.rate, c.count, c.closed, c.length)
	case *sources < 1 || *sources > 254:
		return nil, fmt.Errorf("sources %d: want 1 to 254", *sources)
	}
	if c.count == 0 {
		c.count = int(c.rate * c.length.Seconds())
	}
	if c.server, err = poll.TCPAddr(ap); err != nil {
		return nil, err
	}
	for i := range *sources {
		if *sources == 1 {
			break
		}
		a, err := poll.TCPAddr(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 1, byte(1 + i)}), 0))
		if err != nil {
			return nil, err
		}
		c.sources = append(c.sources, a)
	}
	return c, nil
}

func (c *config) run() error {
	if _, err := poll.RaiseFileLimit(); err != nil {
		return err
	}
	runtime.LockOSThread()
	if err := poll.SetTimerSlack(1); err != nil {
		return err
	}
	p, err := poll.New()
	if err != nil {
		return err
	}
	defer p.Close()
	var o outcome
	if c.closed > 0 {
		err = c.keepAlive(p, &o)
	} else {
		err = c.open(p, &o)
	}
	if err != nil {
		return err
	}
	user, system := poll.ProcessCPU()
	fmt.Println(o.line(user, system))
	return nil
}

// base is the origin of the loops' clock.
var base = time.Now()

func now() time.Duration { return time.Since(base) }
