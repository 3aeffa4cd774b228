package main

import (
	"bytes"
	"strings"
	"testing"

	"httpgen/client"
)

func TestTap(t *testing.T) {
	t.Parallel()
	const all = headerPart | bodyPart
	for _, tt := range []struct {
		name           string
		request, reply part
		want           string
	}{
		{"both", all, all, `SH0:POST / HTTP/1.1
SH0:Host: h
SH0:
SB0:a=1
SB0:b=2
SS0: header 28 content 7
SH1:GET / HTTP/1.1
SH1:
SS1: header 18 content 0
RH0:HTTP/1.1 200 OK
RH1:HTTP/1.1 404 Not Found
RH0:
RB0:one
RB0:two
RF0:X: y
RF0:
RS0: header 19 content 7 footer 8
RH1:
RS1: header 26 content 0 footer 0
RH2:HTTP/1.1 20
`},
		{"request header", headerPart, 0, "SH0:POST / HTTP/1.1\nSH0:Host: h\nSH0:\nSS0: header 28 content 7\nSH1:GET / HTTP/1.1\nSH1:\nSS1: header 18 content 0\n"},
		{"request body", bodyPart, 0, "SB0:a=1\nSB0:b=2\nSS0: header 28 content 7\nSS1: header 18 content 0\n"},
		{"reply header", 0, headerPart, "RH0:HTTP/1.1 200 OK\nRH1:HTTP/1.1 404 Not Found\nRH0:\nRS0: header 19 content 7 footer 8\nRH1:\nRS1: header 26 content 0 footer 0\nRH2:HTTP/1.1 20\n"},
		{"reply body", 0, bodyPart, "RB0:one\nRB0:two\nRF0:X: y\nRF0:\nRS0: header 19 content 7 footer 8\nRS1: header 26 content 0 footer 0\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			p := newTap(&b, tt.request, tt.reply)
			p.Request(0, []byte("POST / HTTP/1.1\r\nHost: h\r\n\r\na=1\nb=2"))
			p.Request(1, []byte("GET / HTTP/1.1\r\n\r\n"))
			// Two replies in pieces, side by side.
			p.Reply(0, client.HeaderPart, []byte("HTTP/1.1 200"), false)
			p.Reply(0, client.HeaderPart, []byte(" OK\r\n"), false)
			p.Reply(1, client.HeaderPart, []byte("HTTP/1.1 404 Not Found\r\n"), false)
			p.Reply(0, client.HeaderPart, []byte("\r\n"), false)
			p.Reply(0, client.BodyPart, []byte("one\nt"), false)
			p.Reply(0, client.BodyPart, []byte("wo"), false)
			p.Reply(0, client.TrailerPart, []byte("X: y\r\n\r\n"), false)
			p.Reply(0, client.HeaderPart, nil, true)
			p.Reply(1, client.HeaderPart, []byte("\r\n"), false)
			p.Reply(1, client.HeaderPart, nil, true)
			// One that is never completed.
			p.Reply(2, client.HeaderPart, []byte("HTTP/1.1 20"), false)
			if err := p.close(); err != nil {
				t.Fatal(err)
			}
			if have := b.String(); have != tt.want {
				t.Errorf("have\n%s\nwant\n%s", have, tt.want)
			}
		})
	}
}

// A line that does not end is not kept whole.
func TestTapLongLine(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	p := newTap(&b, 0, bodyPart)
	piece := bytes.Repeat([]byte("x"), longestLine/2)
	for range 5 {
		p.Reply(0, client.BodyPart, piece, false)
	}
	p.Reply(0, client.BodyPart, nil, true)
	have := strings.Split(b.String(), "\n")
	want := []int{4 + longestLine, 4 + longestLine, 4 + longestLine/2, len("RS0: header 0 content 163840 footer 0"), 0}
	for i := range have {
		if i >= len(want) || len(have[i]) != want[i] {
			t.Errorf("line %d has %d bytes, want %v", i, len(have[i]), want)
		}
	}
}
