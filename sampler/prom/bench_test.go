package prom

import (
	"fmt"
	"testing"
	"time"

	"httpgen/sampler"
)

func BenchmarkCollect(b *testing.B) {
	for _, streams := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("streams=%d", streams), func(b *testing.B) {
			var names []string
			for i := range streams {
				names = append(names, fmt.Sprint(i))
			}
			run := newBench(b, sampler.Options{Streams: names})
			c := newCollector(b)
			attach(b, c, run.s, Info{})
			for i, v := range spread(5000, 50*micro, time.Second) {
				run.reply(i%streams, false, time.Duration(i)*milli, v, 200)
			}
			run.finish(10 * time.Second)
			b.ReportAllocs()
			for b.Loop() {
				c.collect()
			}
		})
	}
}
