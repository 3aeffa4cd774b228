package http1

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A replyCase is a reply and what is to be made of it. In in, § marks where the
// parser must stop, for an error as for a complete reply; without it, all is
// consumed. The peer closes the connection behind in.
type replyCase struct {
	name    string
	in      string
	head    bool
	limit   int32
	status  int
	body    int64
	framing int64
	trailer int64
	interim int
	before  int64 // interim bytes
	minor   int
	reuse   bool // connection may be reused
	ignored bool // LengthIgnored
	err     error
}

const ok = "HTTP/1.1 200 OK\r\n"

func long(n int) string { return strings.Repeat("x", n) }

var replyCases = []replyCase{
	// Status lines.
	{name: "plain", in: ok + "Content-Length: 5\r\n\r\nhello", status: 200, body: 5, minor: 1, reuse: true},
	{name: "no reason", in: "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", status: 200, minor: 1, reuse: true},
	{name: "no reason and no blank", in: "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", status: 200, minor: 1, reuse: true},
	{name: "no reason and bare LF", in: "HTTP/1.1 200\nContent-Length: 0\n\n", status: 200, minor: 1, reuse: true},
	{name: "reason with tab and obs-text", in: "HTTP/1.1 200 \tg\xfct\r\nContent-Length: 0\r\n\r\n", status: 200, minor: 1, reuse: true},
	{name: "3 KB reason", in: "HTTP/1.1 200 " + long(3<<10) + "\r\nContent-Length: 0\r\n\r\n", status: 200, minor: 1, reuse: true},
	{name: "status 999", in: "HTTP/1.1 999 Denied\r\nContent-Length: 1\r\n\r\nx", status: 999, body: 1, minor: 1, reuse: true},
	{name: "status 600", in: "HTTP/1.1 600\r\nContent-Length: 1\r\n\r\nx", status: 600, body: 1, minor: 1, reuse: true},
	{name: "later minor version", in: "HTTP/1.7 200 OK\r\nContent-Length: 1\r\n\r\nx", status: 200, body: 1, minor: 7, reuse: true},
	{name: "status 099", in: "HTTP/1.1 §099 Low\r\n\r\n", minor: 1, err: ErrStatusLine},
	{name: "two digits", in: "HTTP/1.1 20§ OK\r\n\r\n", minor: 1, err: ErrStatusLine},
	{name: "four digits", in: "HTTP/1.1 200§0 OK\r\n\r\n", status: 200, minor: 1, err: ErrStatusLine},
	{name: "tab behind the status", in: "HTTP/1.1 200§\tOK\r\n\r\n", status: 200, minor: 1, err: ErrStatusLine},
	{name: "two blanks before the status", in: "HTTP/1.1 § 200 OK\r\n\r\n", minor: 1, err: ErrStatusLine},
	{name: "no status", in: "HTTP/1.1§\r\n\r\n", minor: 1, err: ErrStatusLine},
	{name: "HTTP/2", in: "HTTP/§2 200\r\n\r\n", err: ErrStatusLine},
	{name: "HTTP/2.0", in: "HTTP/§2.0 200 OK\r\n\r\n", err: ErrStatusLine},
	{name: "no minor digit", in: "HTTP/1.§x 200 OK\r\n\r\n", err: ErrStatusLine},
	{name: "two minor digits", in: "HTTP/1.1§0 200 OK\r\n\r\n", minor: 1, err: ErrStatusLine},
	{name: "lower case", in: "§http/1.1 200 OK\r\n\r\n", err: ErrStatusLine},
	{name: "ICY", in: "§ICY 200 OK\r\n\r\n", err: ErrStatusLine},
	{name: "HTTP/0.9 body", in: "§<html>hello</html>", err: ErrStatusLine},
	{name: "HTTP/0.9 body like a version", in: "H§ello", err: ErrStatusLine},
	{name: "NUL in reason", in: "HTTP/1.1 200 O§\x00K\r\n\r\n", status: 200, minor: 1, err: ErrStatusLine},
	{name: "CR in reason", in: "HTTP/1.1 200 O\r§K\r\n\r\n", status: 200, minor: 1, err: ErrStatusLine},
	{name: "CR behind the status", in: "HTTP/1.1 200\r§ \r\n\r\n", status: 200, minor: 1, err: ErrStatusLine},

	// The empty line before the status line.
	{name: "empty line first", in: "\r\n" + ok + "Content-Length: 1\r\n\r\nx", status: 200, body: 1, before: 2, minor: 1, reuse: true},
	{name: "bare LF first", in: "\n" + ok + "Content-Length: 1\r\n\r\nx", status: 200, body: 1, before: 1, minor: 1, reuse: true},
	{name: "two empty lines first", in: "\r\n§\r\n" + ok + "\r\n", before: 2, err: ErrStatusLine},
	{name: "two bare LF first", in: "\n§\n" + ok + "\r\n", before: 1, err: ErrStatusLine},
	{name: "CR first", in: "\r§" + ok + "\r\n", before: 1, err: ErrStatusLine},
	{name: "two CR first", in: "\r§\r\n" + ok + "\r\n", before: 1, err: ErrStatusLine},

	// Header lines.
	{name: "bare LF", in: "HTTP/1.1 200 OK\nServer: x\nContent-Length: 2\n\nhi", status: 200, body: 2, minor: 1, reuse: true},
	{name: "bare LF before CRLF", in: "HTTP/1.1 200 OK\nContent-Length: 2\n\r\nhi", status: 200, body: 2, minor: 1, reuse: true},
	{name: "no fields", in: ok + "\r\nrest", status: 200, body: 4, minor: 1},
	{name: "empty value", in: ok + "Server:\r\nX-Empty: \t\r\nContent-Length: 0\r\n\r\n", status: 200, minor: 1, reuse: true},
	{name: "value right behind the colon", in: ok + "Content-Length:3\r\n\r\nabc", status: 200, body: 3, minor: 1, reuse: true},
	{name: "obs-text and tab in value", in: ok + "X: \xe4\t\xff\xa0\tlong enough for a word\r\nContent-Length: 0\r\n\r\n", status: 200, minor: 1, reuse: true},
	{name: "every token character", in: ok + "!#$%&'*+-.^_`|~09AZaz: x\r\nContent-Length: 0\r\n\r\n", status: 200, minor: 1, reuse: true},
	{name: "folded", in: ok + "X: a\r\n b\r\n\tc: d\r\n \r\nContent-Length: 2\r\n\r\nhi", status: 200, body: 2, minor: 1, reuse: true},
	{name: "fold like a framing field", in: ok + "X: a\r\n Content-Length: 9\r\nContent-Length: 2\r\n\r\nhi", status: 200, body: 2, minor: 1, reuse: true},
	{name: "fold behind the status line", in: ok + "§ X: a\r\n\r\n", status: 200, minor: 1, err: ErrField},
	{name: "folded Content-Length", in: ok + "Content-Length: 5\r\n§ 0\r\n\r\n", status: 200, minor: 1, err: ErrFold},
	{name: "folded Transfer-Encoding", in: ok + "Transfer-Encoding: gzip,\r\n§\tchunked\r\n\r\n", status: 200, minor: 1, err: ErrFold},
	{name: "folded Connection", in: ok + "Connection:\r\n§ close\r\n\r\n", status: 200, minor: 1, err: ErrFold},
	{name: "blank before the colon", in: ok + "Content-Length§ : 5\r\n\r\nhello", status: 200, minor: 1, err: ErrField},
	{name: "tab before the colon", in: ok + "Server§\t: x\r\n\r\n", status: 200, minor: 1, err: ErrField},
	{name: "empty name", in: ok + "§: x\r\n\r\n", status: 200, minor: 1, err: ErrField},
	{name: "no colon", in: ok + "Server§\r\n\r\n", status: 200, minor: 1, err: ErrField},
	{name: "half a known name", in: ok + "Content-Len§\r\n\r\n", status: 200, minor: 1, err: ErrField},
	{name: "name with a bracket", in: ok + "Ser§[ver: x\r\n\r\n", status: 200, minor: 1, err: ErrField},
	{name: "name with obs-text", in: ok + "C§\xe4: x\r\n\r\n", status: 200, minor: 1, err: ErrField},
	{name: "NUL in value", in: ok + "Server: a long value with§\x00a NUL\r\n\r\n", status: 200, minor: 1, err: ErrField},
	{name: "DEL in value", in: ok + "Server: a long value with§\x7fa DEL\r\n\r\n", status: 200, minor: 1, err: ErrField},
	{name: "bare CR in value", in: ok + "Server: a\r§b\r\n\r\n", status: 200, minor: 1, err: ErrField},
	{name: "two CR", in: ok + "Server: a\r§\r\n\r\n", status: 200, minor: 1, err: ErrField},
	{name: "NUL in Content-Length", in: ok + "Content-Length: 5§\x00\r\n\r\nhello", status: 200, minor: 1, err: ErrField},
	{name: "NUL in Connection", in: ok + "Connection: close§\x00\r\n\r\n", status: 200, minor: 1, err: ErrField},
	{name: "NUL in Transfer-Encoding", in: ok + "Transfer-Encoding: chunked§\x00\r\n\r\n", status: 200, minor: 1, err: ErrField},
	{name: "NUL in a coding's parameter", in: ok + "Transfer-Encoding: a;b=\"§\x00\"\r\n\r\n", status: 200, minor: 1, err: ErrField},
	{name: "CR in Connection", in: ok + "Connection: close\r§x\r\n\r\n", status: 200, minor: 1, err: ErrField},
	{name: "CR instead of the empty line", in: ok + "Server: a\r\n\r§X: b\r\n\r\n", status: 200, minor: 1, err: ErrField},
	{name: "5 KB line", in: ok + "X: " + long(5<<10) + "\r\nContent-Length: 1\r\n\r\nx", status: 200, body: 1, minor: 1, reuse: true},
	{name: "108 KB of header", in: (ok + "X: " + long(108<<10))[:64<<10] + "§" + long(100), status: 200, minor: 1, err: ErrHeaderSize},
	{name: "header of the limit", in: ok + "Content-Length: 1\r\n\r\nx", limit: 38, status: 200, body: 1, minor: 1, reuse: true},
	{name: "header above the limit", in: ok + "Content-Length: 1\r\n\r§\nx", limit: 37, status: 200, minor: 1, err: ErrHeaderSize},
	{name: "status line above the limit", in: "HTTP/1§.1 200 OK\r\n", limit: 6, err: ErrHeaderSize},
	{name: "offence at the limit", in: ok + "X§ : y\r\n\r\n", limit: 18, status: 200, minor: 1, err: ErrHeaderSize},
	{name: "offence below the limit", in: ok + "X§ : y\r\n\r\n", limit: 19, status: 200, minor: 1, err: ErrField},

	// Content-Length.
	{name: "name in capitals", in: ok + "CONTENT-LENGTH: 5\r\n\r\nhello§next", status: 200, body: 5, minor: 1, reuse: true},
	{name: "leading zeros", in: ok + "Content-Length: " + strings.Repeat("0", 100) + "5\r\n\r\nhello", status: 200, body: 5, minor: 1, reuse: true},
	{name: "many blanks around", in: ok + "Content-Length:" + strings.Repeat(" \t", 60) + "5" + strings.Repeat("\t ", 60) + "\r\n\r\nhello", status: 200, body: 5, minor: 1, reuse: true},
	{name: "list of equal lengths", in: ok + "Content-Length: 5, 5,5\r\n\r\nhello", status: 200, body: 5, minor: 1, reuse: true},
	{name: "duplicate of equal length", in: ok + "Content-Length: 5\r\ncontent-length: 05\r\n\r\nhello", status: 200, body: 5, minor: 1, reuse: true},
	{name: "list of unequal lengths", in: ok + "Content-Length: 5, 6\r\n\r\n§hello", status: 200, minor: 1, err: ErrContentLength},
	{name: "unequal lengths", in: ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n§hello", status: 200, minor: 1, err: ErrContentLength},
	{name: "sign", in: ok + "Content-Length: +5\r\n\r\n§hello", status: 200, minor: 1, err: ErrContentLength},
	{name: "negative", in: ok + "Content-Length: -1\r\n\r\n§hello", status: 200, minor: 1, err: ErrContentLength},
	{name: "letters", in: ok + "Content-Length: abc\r\n\r\n§hello", status: 200, minor: 1, err: ErrContentLength},
	{name: "letters behind", in: ok + "Content-Length: 5a\r\n\r\n§hello", status: 200, minor: 1, err: ErrContentLength},
	{name: "blank inside", in: ok + "Content-Length: 5 0\r\n\r\n§hello", status: 200, minor: 1, err: ErrContentLength},
	{name: "empty length", in: ok + "Content-Length: \r\n\r\n§hello", status: 200, minor: 1, err: ErrContentLength},
	{name: "empty element first", in: ok + "Content-Length: ,5\r\n\r\n§hello", status: 200, minor: 1, err: ErrContentLength},
	{name: "empty element last", in: ok + "Content-Length: 5,\r\n\r\n§hello", status: 200, minor: 1, err: ErrContentLength},
	{name: "largest length", in: ok + "Content-Length: 9223372036854775807\r\n\r\nhello", status: 200, body: 5, minor: 1, reuse: true, err: ErrUnexpectedEOF},
	{name: "length above int64", in: ok + "Content-Length: 9223372036854775808\r\n\r\n§hello", status: 200, minor: 1, err: ErrContentLength},
	{name: "length above uint64", in: ok + "Content-Length: 99999999999999999999\r\n\r\n§hello", status: 200, minor: 1, err: ErrContentLength},
	{name: "names that begin alike", in: ok + "Content-Lengt: 1\r\nContent-Lengths: 2\r\nConnect: close\r\nConnections: close\r\nCont: 1\r\nCo: 3\r\nConnection-Length: 4\r\n" +
		"Transfer-Encodings: chunked\r\nTransfer: chunked\r\nT: 5\r\nContent-Length: 5\r\n\r\nhello", status: 200, body: 5, minor: 1, reuse: true},

	// Chunked.
	{name: "chunked", in: ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n§HTTP", status: 200, body: 5, framing: 8, trailer: 2, minor: 1, reuse: true},
	{name: "chunks", in: ok + "transfer-encoding: Chunked\r\n\r\n1\r\nh\r\n0a\r\n0123456789\r\nB\r\n0123456789a\r\n000\r\n\r\n", status: 200, body: 22, framing: 21, trailer: 2, minor: 1, reuse: true},
	{name: "empty chunked", in: ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", status: 200, framing: 3, trailer: 2, minor: 1, reuse: true},
	{name: "extensions", in: ok + "Transfer-Encoding: chunked\r\n\r\n5;a=b;c=\"d;\\\"e\";f\r\nhello\r\n0 ;\tx\r\n\r\n", status: 200, body: 5, framing: 28, trailer: 2, minor: 1, reuse: true},
	{name: "blanks behind the size", in: ok + "Transfer-Encoding: chunked\r\n\r\n5 \t\r\nhello\r\n0  \r\n\r\n", status: 200, body: 5, framing: 12, trailer: 2, minor: 1, reuse: true},
	{name: "many zeros", in: ok + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("0", 40) + "1\r\nx\r\n0\r\n\r\n", status: 200, body: 1, framing: 48, trailer: 2, minor: 1, reuse: true},
	{name: "trailers", in: ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nA: b\r\nCc: dd\r\n\r\n§x", status: 200, body: 1, framing: 8, trailer: 16, minor: 1, reuse: true},
	{name: "folded trailer with bare LF", in: ok + "Transfer-Encoding: chunked\r\n\r\n0\r\nA: b\n c\n\n", status: 200, framing: 3, trailer: 9, minor: 1, reuse: true},
	{name: "framing fields in trailers", in: ok + "Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 7\r\nConnection: close\r\nTransfer-Encoding: x\r\n y\r\n\r\n", status: 200, framing: 3, trailer: 66, minor: 1, reuse: true},
	{name: "announced framing trailer", in: ok + "Trailer: Content-Length\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", status: 200, framing: 3, trailer: 2, minor: 1, reuse: true},
	{name: "trailer begins with a fold", in: ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n§ A: b\r\n\r\n", status: 200, framing: 3, minor: 1, reuse: true, err: ErrField},
	{name: "trailer without colon", in: ok + "Transfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\nC§\r\n\r\n", status: 200, framing: 3, trailer: 7, minor: 1, reuse: true, err: ErrField},
	{name: "NUL in trailer", in: ok + "Transfer-Encoding: chunked\r\n\r\n0\r\nA: §\x00\r\n\r\n", status: 200, framing: 3, trailer: 3, minor: 1, reuse: true, err: ErrField},
	{name: "trailers of the limit", in: ok + "Transfer-Encoding: chunked\r\n\r\n0\r\nA: " + long(40) + "\r\n\r\n", limit: 47, status: 200, framing: 3, trailer: 47, minor: 1, reuse: true},
	{name: "trailers above the limit", in: ok + "Transfer-Encoding: chunked\r\n\r\n0\r\nA: " + long(41) + "\r\n\r§\n", limit: 47, status: 200, framing: 3, trailer: 47, minor: 1, reuse: true, err: ErrHeaderSize},
	{name: "trailer section missing", in: ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n", status: 200, framing: 3, minor: 1, reuse: true, err: ErrUnexpectedEOF},
	{name: "5 KB of trailers", in: ok + "Transfer-Encoding: chunked\r\n\r\n0\r\nA: " + long(5<<10) + "\r\n\r\n", status: 200, framing: 3, trailer: 5127, minor: 1, reuse: true},
	{name: "5 KB of extension", in: ok + "Transfer-Encoding: chunked\r\n\r\n0;" + long(5<<10) + "\r\n\r\n", status: 200, framing: 5124, trailer: 2, minor: 1, reuse: true},
	{name: "long extensions of short chunks", in: ok + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1;"+long(3000)+"\r\nx\r\n", 8) + "0\r\n\r\n", status: 200, body: 8, framing: 8*3006 + 3, trailer: 2, minor: 1, reuse: true},
	{name: "no size", in: ok + "Transfer-Encoding: chunked\r\n\r\n§\r\nhello\r\n", status: 200, minor: 1, reuse: true, err: ErrChunkSize},
	{name: "extension without size", in: ok + "Transfer-Encoding: chunked\r\n\r\n§;a\r\nhello\r\n", status: 200, minor: 1, reuse: true, err: ErrChunkSize},
	{name: "blank before the size", in: ok + "Transfer-Encoding: chunked\r\n\r\n§ 5\r\nhello\r\n", status: 200, minor: 1, reuse: true, err: ErrChunkSize},
	{name: "signed size", in: ok + "Transfer-Encoding: chunked\r\n\r\n§+5\r\nhello\r\n", status: 200, minor: 1, reuse: true, err: ErrChunkSize},
	{name: "negative size", in: ok + "Transfer-Encoding: chunked\r\n\r\n§-5\r\nhello\r\n", status: 200, minor: 1, reuse: true, err: ErrChunkSize},
	{name: "0x", in: ok + "Transfer-Encoding: chunked\r\n\r\n0§x5\r\nhello\r\n", status: 200, framing: 1, minor: 1, reuse: true, err: ErrChunkSize},
	{name: "no hex digit", in: ok + "Transfer-Encoding: chunked\r\n\r\n5§g\r\nhello\r\n", status: 200, framing: 1, minor: 1, reuse: true, err: ErrChunkSize},
	{name: "two sizes", in: ok + "Transfer-Encoding: chunked\r\n\r\n5 §5\r\nhello\r\n", status: 200, framing: 2, minor: 1, reuse: true, err: ErrChunkSize},
	{name: "largest size", in: ok + "Transfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\nhello", status: 200, body: 5, framing: 18, minor: 1, reuse: true, err: ErrUnexpectedEOF},
	{name: "size above int64", in: ok + "Transfer-Encoding: chunked\r\n\r\n800000000000000§0\r\nhello", status: 200, framing: 15, minor: 1, reuse: true, err: ErrChunkSize},
	{name: "size above uint64", in: ok + "Transfer-Encoding: chunked\r\n\r\n1000000000000000§0\r\nhello", status: 200, framing: 16, minor: 1, reuse: true, err: ErrChunkSize},
	{name: "bare LF behind the size", in: ok + "Transfer-Encoding: chunked\r\n\r\n5§\nhello\r\n0\r\n\r\n", status: 200, framing: 1, minor: 1, reuse: true, err: ErrChunkSize},
	{name: "bare LF behind an extension", in: ok + "Transfer-Encoding: chunked\r\n\r\n5;a§\nhello\r\n0\r\n\r\n", status: 200, framing: 3, minor: 1, reuse: true, err: ErrChunkSize},
	{name: "bare CR behind the size", in: ok + "Transfer-Encoding: chunked\r\n\r\n5\r§hello\r\n0\r\n\r\n", status: 200, framing: 2, minor: 1, reuse: true, err: ErrChunkSize},
	{name: "control in an extension", in: ok + "Transfer-Encoding: chunked\r\n\r\n5;a§\x01\r\nhello\r\n0\r\n\r\n", status: 200, framing: 3, minor: 1, reuse: true, err: ErrChunkSize},
	{name: "bare LF behind the data", in: ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello§\n0\r\n\r\n", status: 200, body: 5, framing: 3, minor: 1, reuse: true, err: ErrChunkEnd},
	{name: "bare CR behind the data", in: ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r§0\r\n\r\n", status: 200, body: 5, framing: 4, minor: 1, reuse: true, err: ErrChunkEnd},
	{name: "data longer than its size", in: ok + "Transfer-Encoding: chunked\r\n\r\n4\r\nhell§o\r\n0\r\n\r\n", status: 200, body: 4, framing: 3, minor: 1, reuse: true, err: ErrChunkEnd},

	// Transfer-Encoding.
	{name: "gzip, chunked", in: ok + "Transfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", status: 200, body: 1, framing: 8, trailer: 2, minor: 1, reuse: true},
	{name: "codings on two lines", in: ok + "Transfer-Encoding: gzip\r\nServer: x\r\ntransfer-encoding: CHUNKED\r\n\r\n1\r\nx\r\n0\r\n\r\n", status: 200, body: 1, framing: 8, trailer: 2, minor: 1, reuse: true},
	{name: "long coding list", in: ok + "Transfer-Encoding: " + strings.Repeat("gzip, , ", 50) + long(300) + " ,\tchunked \t,\r\n\r\n0\r\n\r\n", status: 200, framing: 3, trailer: 2, minor: 1, reuse: true},
	{name: "coding parameters", in: ok + "Transfer-Encoding: x;a=\"b, chunked\\\", chunked\" ; c=d, chunked\r\n\r\n0\r\n\r\n", status: 200, framing: 3, trailer: 2, minor: 1, reuse: true},
	{name: "parameter named chunked", in: ok + "Transfer-Encoding: x;chunked\r\n\r\nrest", status: 200, body: 4, minor: 1},
	{name: "parameter in blanks named chunked", in: ok + "Transfer-Encoding: x ; chunked\r\n\r\nrest", status: 200, body: 4, minor: 1},
	{name: "chunked not last", in: ok + "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", status: 200, body: 5, minor: 1},
	{name: "chunked not last on two lines", in: ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n", status: 200, body: 5, minor: 1},
	{name: "no chunked", in: ok + "Transfer-Encoding: gzip\r\n\r\nrest", status: 200, body: 4, minor: 1},
	{name: "identity", in: ok + "Transfer-Encoding: identity\r\nContent-Length: 1\r\n\r\nrest", status: 200, body: 4, minor: 1, ignored: true},
	{name: "no coding", in: ok + "Transfer-Encoding:\r\n\r\nrest", status: 200, body: 4, minor: 1},
	{name: "chunke", in: ok + "Transfer-Encoding: chunke\r\n\r\nrest", status: 200, body: 4, minor: 1},
	{name: "chunkedx", in: ok + "Transfer-Encoding: chunkedx\r\n\r\nrest", status: 200, body: 4, minor: 1},
	{name: "chunked twice", in: ok + "Transfer-Encoding: chunked, chunked\r\n\r\n§0\r\n\r\n", status: 200, minor: 1, reuse: true, err: ErrTransferEncoding},
	{name: "chunked twice on two lines", in: ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n§0\r\n\r\n", status: 200, minor: 1, reuse: true, err: ErrTransferEncoding},
	{name: "chunked twice around gzip", in: ok + "Transfer-Encoding: chunked, gzip, chunked\r\n\r\n§0\r\n\r\n", status: 200, minor: 1, reuse: true, err: ErrTransferEncoding},
	{name: "chunked with a parameter", in: ok + "Transfer-Encoding: chunked;q=1\r\n\r\n§0\r\n\r\n", status: 200, minor: 1, reuse: true, err: ErrTransferEncoding},
	{name: "chunked with a parameter behind a blank", in: ok + "Transfer-Encoding: chunked ;q=1\r\n\r\n§0\r\n\r\n", status: 200, minor: 1, reuse: true, err: ErrTransferEncoding},
	{name: "chunked and junk", in: ok + "Transfer-Encoding: chunked foo\r\n\r\n§0\r\n\r\n", status: 200, minor: 1, reuse: true, err: ErrTransferEncoding},
	{name: "quoted chunked", in: ok + "Transfer-Encoding: \"chunked\"\r\n\r\n§0\r\n\r\n", status: 200, minor: 1, reuse: true, err: ErrTransferEncoding},
	{name: "open quoted string", in: ok + "Transfer-Encoding: x;a=\"b, chunked\r\n\r\n§0\r\n\r\n", status: 200, minor: 1, reuse: true, err: ErrTransferEncoding},
	{name: "vertical tab and chunked", in: ok + "Transfer-Encoding: §\vchunked\r\n\r\n0\r\n\r\n", status: 200, minor: 1, reuse: true, err: ErrField},

	// Content-Length beside Transfer-Encoding, and Transfer-Encoding in HTTP/1.0.
	{name: "length and chunked", in: ok + "Content-Length: 500\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n§HTTP", status: 200, body: 1, framing: 8, trailer: 2, minor: 1, ignored: true},
	{name: "chunked and length", in: ok + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n1\r\nx\r\n0\r\n\r\n", status: 200, body: 1, framing: 8, trailer: 2, minor: 1, ignored: true},
	{name: "chunked and a bad length", in: ok + "Transfer-Encoding: chunked\r\nContent-Length: abc\r\n\r\n1\r\nx\r\n0\r\n\r\n", status: 200, body: 1, framing: 8, trailer: 2, minor: 1, ignored: true},
	{name: "length and gzip", in: ok + "Content-Length: 1\r\nTransfer-Encoding: gzip\r\n\r\nrest", status: 200, body: 4, minor: 1, ignored: true},
	{name: "chunked in 1.0", in: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", status: 200, body: 1, framing: 8, trailer: 2},
	{name: "coding and HEAD in 1.0", in: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n", head: true, status: 200},

	// Connection, and bodies that end with it.
	{name: "close", in: ok + "Connection: close\r\nContent-Length: 1\r\n\r\nx", status: 200, body: 1, minor: 1},
	{name: "close in capitals", in: ok + "CONNECTION: CLOSE\r\nContent-Length: 1\r\n\r\nx", status: 200, body: 1, minor: 1},
	{name: "close in a list", in: ok + "Connection: " + strings.Repeat("upgrade, ", 40) + "close , x\r\nContent-Length: 1\r\n\r\nx", status: 200, body: 1, minor: 1},
	{name: "close on a second line", in: ok + "Connection: x\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", status: 200, body: 1, minor: 1},
	{name: "close and keep-alive", in: ok + "Connection: close, keep-alive\r\nContent-Length: 1\r\n\r\nx", status: 200, body: 1, minor: 1},
	{name: "like close", in: ok + "Connection: closed, xclose, clos, clo se, close x, close;q, \"close\", keep-alives\r\nContent-Length: 1\r\n\r\nx", status: 200, body: 1, minor: 1, reuse: true},
	{name: "empty Connection", in: ok + "Connection:\r\nConnection: ,,\r\nContent-Length: 1\r\n\r\nx", status: 200, body: 1, minor: 1, reuse: true},
	{name: "1.0 with a length", in: "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", status: 200, body: 1},
	{name: "1.0 keep-alive", in: "HTTP/1.0 200 OK\r\nConnection: x, Keep-Alive\r\nContent-Length: 1\r\n\r\nx", status: 200, body: 1, reuse: true},
	{name: "1.0 keep-alive and close", in: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", status: 200, body: 1},
	{name: "1.0 without a length", in: "HTTP/1.0 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", status: 200, body: 19},
	{name: "1.0 keep-alive without a length", in: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n", status: 200},
	{name: "close without a length", in: ok + "Connection: close\r\n\r\nhello", status: 200, body: 5, minor: 1},
	{name: "205 with content", in: "HTTP/1.1 205 Reset\r\nContent-Length: 2\r\n\r\nhi§x", status: 205, body: 2, minor: 1, reuse: true},
	{name: "205 chunked", in: "HTTP/1.1 205 Reset\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n§x", status: 205, framing: 3, trailer: 2, minor: 1, reuse: true},
	{name: "302", in: "HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n§x", status: 302, minor: 1, reuse: true},

	// Replies without a body.
	{name: "HEAD", in: ok + "Content-Length: 500\r\n\r\n§HTTP", head: true, status: 200, minor: 1, reuse: true},
	{name: "HEAD without a length", in: ok + "\r\n§HTTP", head: true, status: 200, minor: 1, reuse: true},
	{name: "HEAD chunked", in: ok + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n§0", head: true, status: 200, minor: 1, reuse: true},
	{name: "HEAD with a bad length", in: ok + "Content-Length: +5\r\n\r\n§0", head: true, status: 200, minor: 1, reuse: true},
	{name: "HEAD with close", in: ok + "Connection: close\r\n\r\n", head: true, status: 200, minor: 1},
	{name: "204 with a length", in: "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n§stray", status: 204, minor: 1, reuse: true},
	{name: "204 chunked", in: "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked, chunked\r\n\r\n§0\r\n\r\n", status: 204, minor: 1, reuse: true},
	{name: "304 with a length", in: "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n§HTTP", status: 304, minor: 1, reuse: true},
	{name: "304 with unequal lengths", in: "HTTP/1.1 304 Not Modified\r\nContent-Length: 5, 6\r\n\r\n§HTTP", status: 304, minor: 1, reuse: true},

	// Interim replies.
	{name: "100", in: "HTTP/1.1 100 Continue\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nhi§H", status: 200, body: 2, interim: 1, before: 25, minor: 1, reuse: true},
	{name: "100 with fields that mean nothing", in: "HTTP/1.0 100 C\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nhi", status: 200, body: 2, interim: 1, before: 84, minor: 1, reuse: true},
	{name: "100, 103, 199", in: "HTTP/1.1 100 C\r\n\r\n\r\nHTTP/1.1 103 E\r\nLink: x\r\n\r\nHTTP/1.1 199\n\n" + ok + "Content-Length: 0\r\n\r\n", status: 200, interim: 3, before: 61, minor: 1, reuse: true},
	{name: "100 to HEAD", in: "HTTP/1.1 100 C\r\n\r\n" + ok + "Content-Length: 2\r\n\r\n§hi", head: true, status: 200, interim: 1, before: 18, minor: 1, reuse: true},
	{name: "limit is per interim reply", in: "HTTP/1.1 100 C\r\n\r\n" + ok + "Content-Length: 1\r\n\r\nx", limit: 38, status: 200, body: 1, interim: 1, before: 18, minor: 1, reuse: true},
	{name: "limit of an interim reply", in: "HTTP/1.1 100 C\r\nX: yyyyyyyyyyyyyyyyyyyyy§y\r\n\r\n", limit: 40, status: 100, minor: 1, err: ErrHeaderSize, reuse: true},
	{name: "101", in: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n§\x00\x01", status: 101, minor: 1},
	{name: "100 and no more", in: "HTTP/1.1 100 Continue\r\n\r\n", interim: 1, before: 25, err: ErrUnexpectedEOF},
	{name: "100 and junk", in: "HTTP/1.1 100 Continue\r\n\r\n§stray", interim: 1, before: 25, err: ErrStatusLine},

	// Early ends.
	{name: "nothing", in: "", err: ErrNoReply},
	{name: "one byte", in: "H", err: ErrUnexpectedEOF},
	{name: "empty line only", in: "\r\n", before: 2, err: ErrUnexpectedEOF},
	{name: "half a status line", in: "HTTP/1.1 20", minor: 1, err: ErrUnexpectedEOF},
	{name: "status line", in: ok, status: 200, minor: 1, err: ErrUnexpectedEOF},
	{name: "half a name", in: ok + "Content-Len", status: 200, minor: 1, err: ErrUnexpectedEOF},
	{name: "half a header", in: ok + "Server: x\r\n\r", status: 200, minor: 1, err: ErrUnexpectedEOF},
	{name: "half a body", in: ok + "Content-Length: 500\r\n\r\nhello", status: 200, body: 5, minor: 1, reuse: true, err: ErrUnexpectedEOF},
	{name: "half a chunk", in: ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhel", status: 200, body: 3, framing: 3, minor: 1, reuse: true, err: ErrUnexpectedEOF},
	{name: "half a trailer", in: ok + "Transfer-Encoding: chunked\r\n\r\n0\r\nA:", status: 200, framing: 3, trailer: 2, minor: 1, reuse: true, err: ErrUnexpectedEOF},
}

// cut returns the input of c and how much of it is to be consumed.
func (c *replyCase) cut() (in []byte, used int) {
	before, after, _ := strings.Cut(c.in, "§")
	return []byte(before + after), len(before)
}

// parser returns a parser that is ready for c.
func (c *replyCase) parser() *Parser {
	p := &Parser{MaxHeaderBytes: c.limit}
	p.Reset(c.head)
	return p
}

// An outcome is all that a parser tells.
type outcome struct {
	status, minor, interim               int
	before, header, body, framing, trail int64
	started, reuse, ignored              bool
	used                                 int
	done                                 bool // before the peer closed
	err                                  error
}

// read feeds pieces to p, as a connection would, closes, and returns the outcome.
func read(t testing.TB, p *Parser, pieces ...[]byte) outcome {
	t.Helper()
	var o outcome
	for _, b := range pieces {
		n, done, err := p.Feed(b)
		if n < 0 || n > len(b) || n < len(b) && !done && err == nil {
			t.Fatalf("Feed(%q) = %d, %v, %v: n out of place", b, n, done, err)
		}
		o.used += n
		o.done, o.err = done, err
		if done || err != nil {
			break
		}
	}
	if n, done, err := p.Feed(nil); n != 0 || done != o.done || err != o.err {
		t.Errorf("Feed(nil) = %d, %v, %v, want 0, %v, %v", n, done, err, o.done, o.err)
	}
	o.started = p.Started()
	if err := p.EOF(); err != o.err {
		if o.done || o.err != nil {
			t.Errorf("EOF() = %v behind done = %v, err = %v", err, o.done, o.err)
		}
		o.err = err
	}
	o.status, o.minor, o.interim = p.Status(), p.Minor(), p.Informational()
	o.before, o.header, o.body = p.InterimBytes(), p.HeaderBytes(), p.BodyBytes()
	o.framing, o.trail = p.FramingBytes(), p.TrailerBytes()
	o.reuse, o.ignored = p.KeepAlive(), p.LengthIgnored()
	return o
}

func TestParser(t *testing.T) {
	t.Parallel()
	for _, c := range replyCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in, used := c.cut()
			got := read(t, c.parser(), in)
			if got.err != c.err || got.used != used {
				t.Fatalf("consumed %d with error %v, want %d, %v", got.used, got.err, used, c.err)
			}
			if sum := got.before + got.header + got.body + got.framing + got.trail; sum != int64(got.used) {
				t.Errorf("the counters add up to %d, want the %d bytes consumed", sum, got.used)
			}
			want := outcome{
				status: c.status, minor: c.minor, interim: c.interim,
				before: c.before, header: got.header, body: c.body, framing: c.framing, trail: c.trailer,
				started: len(in) > 0, reuse: c.reuse, ignored: c.ignored,
				used: used, done: got.done, err: c.err,
			}
			if c.err != nil {
				want.reuse = got.reuse // says something of complete replies only
			}
			if got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

// TestParserSplit feeds every case byte by byte, with empty reads between, and
// in two pieces, cut at every place of all but the longest.
func TestParserSplit(t *testing.T) {
	t.Parallel()
	for _, c := range replyCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in, _ := c.cut()
			want := read(t, c.parser(), in)
			var bytewise [][]byte
			for i := range in {
				bytewise = append(bytewise, in[i:i+1], nil)
			}
			if got := read(t, c.parser(), bytewise...); got != want {
				t.Errorf("byte by byte\ngot  %+v\nwant %+v", got, want)
			}
			// One above 8 KiB is cut near its ends and at every 97th byte.
			const near, stride = 300, 97
			for i := range in {
				if len(in) > 8<<10 && i > near && i < len(in)-near && i%stride != 0 {
					continue
				}
				if got := read(t, c.parser(), in[:i], in[i:]); got != want {
					t.Fatalf("cut at %d\ngot  %+v\nwant %+v", i, got, want)
				}
			}
		})
	}
}

// TestParserRandomSplit cuts replies that were put together at random.
func TestParserRandomSplit(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		a, b := replyCases[rnd.IntN(len(replyCases))], replyCases[rnd.IntN(len(replyCases))]
		if a.limit != 0 || len(a.in) > 8<<10 || len(b.in) > 8<<10 {
			continue
		}
		x, _ := a.cut()
		y, _ := b.cut()
		in := slices.Concat(x[:rnd.IntN(len(x)+1)], y[rnd.IntN(len(y)+1):])
		want := read(t, a.parser(), in)
		if got := read(t, a.parser(), pieces(rnd, in)...); got != want {
			t.Fatalf("%q\ngot  %+v\nwant %+v", in, got, want)
		}
	}
}

// pieces cuts in at random places; some pieces are empty.
func pieces(rnd *rand.Rand, in []byte) [][]byte {
	var out [][]byte
	most := 1 + rnd.IntN(40)
	for len(in) > 0 {
		n := min(rnd.IntN(most+1), len(in))
		out = append(out, in[:n])
		in = in[n:]
	}
	return out
}

func TestParserHeaderBytes(t *testing.T) {
	t.Parallel()
	const head = ok + "X: y\n folded\r\nContent-Length: 3\r\n\r\n"
	var p Parser
	if _, done, err := p.Feed([]byte("\r\nHTTP/1.1 103 E\r\n\r\n" + head + "abc")); !done || err != nil {
		t.Fatalf("Feed: done = %v, err = %v", done, err)
	}
	if got := p.HeaderBytes(); got != int64(len(head)) {
		t.Errorf("HeaderBytes() = %d, want %d", got, len(head))
	}
}

// TestParserLimitLowered lowers the limit below what was consumed already.
func TestParserLimitLowered(t *testing.T) {
	t.Parallel()
	var p Parser
	if n, _, err := p.Feed([]byte(ok)); n != len(ok) || err != nil {
		t.Fatalf("Feed = %d, %v", n, err)
	}
	p.MaxHeaderBytes = 5
	if n, _, err := p.Feed([]byte("\r\n")); n != 0 || err != ErrHeaderSize {
		t.Errorf("Feed = %d, %v, want 0, %v", n, err, ErrHeaderSize)
	}
}

// TestParserPipelined reads replies that arrive back to back, whatever the pieces.
func TestParserPipelined(t *testing.T) {
	t.Parallel()
	in := []byte(strings.Repeat(ok+"Content-Length: 5\r\n\r\nhello"+
		"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", 3))
	for size := 1; size <= len(in); size++ {
		var p Parser
		var got []int
		for b := in; len(b) > 0; {
			n, done, err := p.Feed(b[:min(size, len(b))])
			if err != nil {
				t.Fatalf("pieces of %d: %v", size, err)
			}
			b = b[n:]
			if done {
				got = append(got, p.Status(), int(p.BodyBytes()), p.Informational())
				p.Reset(false)
			}
		}
		want := []int{200, 5, 0, 404, 1, 1, 200, 5, 0, 404, 1, 1, 200, 5, 0, 404, 1, 1}
		if !slices.Equal(got, want) || p.Started() {
			t.Fatalf("pieces of %d: got %v, started = %v, want %v, false", size, got, p.Started(), want)
		}
	}
}

// TestParserReset checks that nothing of a reply reaches the next one.
func TestParserReset(t *testing.T) {
	t.Parallel()
	next := []byte(ok + "Content-Length: 2\r\n\r\nhi")
	for _, c := range replyCases {
		p := c.parser()
		p.MaxHeaderBytes = 1 << 10
		want := read(t, &Parser{MaxHeaderBytes: p.MaxHeaderBytes}, next)
		in, _ := c.cut()
		read(t, p, in)
		p.Reset(false)
		if p.MaxHeaderBytes != 1<<10 {
			t.Errorf("%s: MaxHeaderBytes = %d after Reset, want it kept", c.name, p.MaxHeaderBytes)
		}
		if p.Started() {
			t.Errorf("%s: Started() after Reset", c.name)
		}
		if got := read(t, p, next); got != want {
			t.Errorf("%s: next reply\ngot  %+v\nwant %+v", c.name, got, want)
		}
	}
}

// TestParserObserver checks that an observer sees what is counted, in order.
func TestParserObserver(t *testing.T) {
	t.Parallel()
	type seen struct {
		part Part
		text string
	}
	observe := func(p *Parser) *[]seen {
		var all []seen
		p.Observer = func(part Part, b []byte) {
			if n := len(all); n > 0 && all[n-1].part == part {
				all[n-1].text += string(b)
				return
			}
			all = append(all, seen{part, string(b)})
		}
		return &all
	}
	for _, c := range replyCases {
		in, _ := c.cut()
		p := c.parser()
		all := observe(p)
		o := read(t, p, in)
		var sizes [3]int64
		for _, s := range *all {
			sizes[s.part] += int64(len(s.text))
		}
		if want := [3]int64{o.before + o.header, o.body, o.trail}; sizes != want {
			t.Errorf("%s: saw %v bytes of header, body, trailer, want %v", c.name, sizes, want)
		}
	}

	const head = ok + "Transfer-Encoding: chunked\r\n\r\n"
	for _, step := range []int{1, 7, 1000} {
		var p Parser
		all := observe(&p)
		p.Reset(false)
		for piece := range slices.Chunk([]byte("HTTP/1.1 100 C\r\n\r\n"+head+"3\r\nabc\r\n2;x\r\nde\r\n0\r\nA: b\r\n\r\n"), step) {
			if _, _, err := p.Feed(piece); err != nil {
				t.Fatal(err)
			}
		}
		want := []seen{{Header, "HTTP/1.1 100 C\r\n\r\n" + head}, {Body, "abcde"}, {Trailer, "A: b\r\n\r\n"}}
		if !slices.Equal(*all, want) {
			t.Errorf("pieces of %d: saw %q, want %q", step, *all, want)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	if !errors.Is(ErrNoReply, ErrUnexpectedEOF) {
		t.Errorf("%v is not %v", ErrNoReply, ErrUnexpectedEOF)
	}
	if errors.Is(ErrUnexpectedEOF, ErrNoReply) {
		t.Errorf("%v is %v", ErrUnexpectedEOF, ErrNoReply)
	}
	seen := make(map[string]ParseError)
	for e := ErrStatusLine; e <= ErrChunkEnd; e++ {
		text := e.Error()
		if !strings.HasPrefix(text, "http1: ") || strings.Contains(text, "unknown") {
			t.Errorf("ParseError(%d).Error() = %q", e, text)
		}
		if before, ok := seen[text]; ok {
			t.Errorf("errors %d and %d are both %q", before, e, text)
		}
		seen[text] = e
	}
	for _, e := range []ParseError{0, ErrChunkEnd + 1} {
		if got := e.Error(); !strings.Contains(got, "unknown error") {
			t.Errorf("ParseError(%d).Error() = %q, want unknown", e, got)
		}
	}
}

// TestParserSize keeps the state small: one is held per open connection.
func TestParserSize(t *testing.T) {
	t.Parallel()
	if size := reflect.TypeFor[Parser]().Size(); size > 128 {
		t.Errorf("a Parser has %d bytes, want at most 128", size)
	}
}
