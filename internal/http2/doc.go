// Package http2 is the client side of HTTP/2 as a load generator needs it:
// [Request] is a request encoded once, [Conn] one connection that carries many
// at a time. It does no I/O: what is to be sent is appended to [Conn.Out], what
// arrived is given to [Conn.Feed], and [Events] tells what became of the
// requests.
//
// # Design
//
// A Conn is a byte-driven state machine. However the bytes are cut into pieces,
// the events and the answers are the same: everything is decided when a frame
// header, a fixed part or a frame is complete, never by the end of a piece.
// Content is counted and dropped as it comes; only a field block that is cut is
// kept until it is whole. In steady state a call allocates nothing.
//
// Requests are encoded without the dynamic table, so the block is the same on
// every connection and is copied. A peer that shrinks the table below its
// default is told once that it is not used (RFC 7541, 4.2).
//
// The HPACK decoder is one of our own: that of golang.org/x/net allocates each
// string and cannot be reset, and some servers insert fields anew with every
// reply. With seven such fields it took 7 allocations and 1.5 times as long as
// this one (BenchmarkDecode, median of ten alternating runs on a busy virtual
// machine with 2 cores, November 2026); Huffman decoding, which both take from
// it, is most of the rest. Names and values are slices of the input or of a
// buffer that is used again. The static table is that of golang.org/x/net too,
// and a fuzz test compares the two decoders.
//
// Flow control never holds a server up: nothing of a reply is stored, so the
// windows are large. A request body goes out as the peer's windows allow, in
// the order of the requests.
//
// # What is accepted
//
// Connection errors and malformed replies are those of RFC 9113, with these
// liberties. Tolerated: blanks around a field value; frames on a stream that is
// closed, for whatever reason it is; a GOAWAY that raises the last stream.
// Stricter: PRIORITY of a wrong size and a stream window that the peer overruns
// are connection errors, and so is a field block longer than the limit on the
// wire, its frame headers included.
package http2
