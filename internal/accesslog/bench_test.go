package accesslog

import (
	"fmt"
	"strings"
	"testing"
)

// usual is a log as a browser leaves it.
func usual(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "203.0.113.%d - - [10/Oct/2000:13:%02d:%02d -0700] \"GET /images/%d.png?v=%d HTTP/1.1\" 200 2326 "+
			"\"https://www.example.com/start/page.html\" \"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\"\n",
			i%256, i/6000%60, i/100%60, i, i)
	}
	return b.String()
}

func BenchmarkParse(b *testing.B) {
	line := []byte(usual(1))
	line = line[:len(line)-1]
	buf := make([]byte, len(line))
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	var r record
	for b.Loop() {
		copy(buf, line)
		if _, err := r.parse(buf); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	text := usual(100_000)
	for _, spread := range []bool{false, true} {
		b.Run(fmt.Sprintf("spread=%t", spread), func(b *testing.B) {
			b.ReportAllocs()
			p := openLog(b, text, Options{Spread: spread}).Process(1)
			s := p.Schedule(0, 1, 0)
			for b.Loop() {
				if _, _, ok := s.Next(); !ok {
					s = p.Schedule(0, 1, 0)
				}
			}
		})
	}
}

func BenchmarkRequest(b *testing.B) {
	l := openLog(b, usual(100_000), Options{})
	for _, step := range []uint64{1, 7919} {
		b.Run(fmt.Sprintf("step=%d", step), func(b *testing.B) {
			b.ReportAllocs()
			i := uint64(0)
			for b.Loop() {
				if _, err := l.Request(i); err != nil {
					b.Fatal(err)
				}
				i += step
			}
		})
	}
}
