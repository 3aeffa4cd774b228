// Library measures a server from Go: 500 new connections a second for two
// seconds, with the windows as they come and the totals at the end.
//
//	go run ./examples/library [URL]
//
// Without a URL it starts a server of its own.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"time"

	"httpgen/client"
	"httpgen/pacer"
)

func main() {
	target := ""
	if len(os.Args) > 1 {
		target = os.Args[1]
	} else {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "hello") }))
		defer s.Close()
		target = s.URL + "/"
	}
	if err := measure(target); err != nil {
		log.Fatal(err)
	}
}

func measure(target string) error {
	u, err := url.Parse(target)
	if err != nil {
		return err
	}
	addr, err := netip.ParseAddrPort(u.Host)
	if err != nil {
		return fmt.Errorf("%s: want an address and a port: %w", target, err)
	}
	request, err := client.Get(target)
	if err != nil {
		return err
	}
	c, err := client.New(client.Options{
		Streams: []client.Stream{{
			Process:  pacer.For(pacer.Constant{N: 500, Per: time.Second}, 2*time.Second),
			Target:   client.Target{Addrs: []netip.AddrPort{addr}},
			Workload: &client.Calls{Request: request},
			Timeouts: client.Timeouts{Connect: time.Second, Reply: time.Second},
		}},
		Window: 500 * time.Millisecond,
	})
	if err != nil {
		return err
	}
	windows := make(chan struct{})
	go func() {
		defer close(windows)
		for w := range c.Sampler().Follow() {
			fmt.Printf("%4.1f s  replies %4d  latency p99 %v\n", (w.All.Start + w.All.Length).Seconds(), w.All.Replies, w.All.Latency.P99)
		}
	}()
	result, err := c.Run(context.Background())
	if err != nil {
		return err
	}
	<-windows
	verdict, _ := result.Judge(false)
	all := &result.All
	fmt.Printf("scheduled %d, completed %d, errors %d, latency p50 %v p99 %v, verdict %v\n",
		all.Scheduled, all.Completed(), all.Errors(), all.Times.Latency.Quantile(.5), all.Times.Latency.Quantile(.99), verdict.Status)
	return nil
}
