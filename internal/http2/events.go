package http2

import h2 "golang.org/x/net/http2"

// Events is told what happens on a connection. Its methods are called from
// within [Conn.Feed] and [Conn.End]. They may call the Conn's Send, Cancel, End,
// Room and Streams, but neither Feed nor Reset. ref is what Send was given.
//
// Each request ends in exactly one call of Reply or Failed, or by Cancel, after
// which it is not mentioned again.
type Events interface {
	// Begun says that the first frame of a reply, or of an interim one, is coming.
	Begun(ref uint64)
	// Sent says that the last byte of a request body was appended to Out. It is
	// called only when [Conn.Send] reported that some of it had to wait.
	Sent(ref uint64)
	// Reply says that a reply is complete. The request may not be: what was left
	// of its body is then not sent. r must not be kept.
	Reply(ref uint64, r *Reply)
	// Failed says that no complete reply will come.
	Failed(ref uint64, f Failure)
	// Goaway says that the peer takes no further requests on this connection.
	// Those above the stream last were refused just before; the others go on.
	Goaway(code h2.ErrCode, last uint32)
	// Settings says that settings of the peer took effect, so that there may be
	// more room, or less.
	Settings()
}

// A Reply is what is known of a complete reply. The byte counts add up to the
// HEADERS, CONTINUATION and DATA frames on its stream.
type Reply struct {
	Status        int   // 200 to 999
	Informational int   // interim replies (1xx) before it
	HeaderBytes   int64 // field blocks as on the wire, that is compressed, interim replies included
	BodyBytes     int64
	TrailerBytes  int64 // field block as on the wire
	FramingBytes  int64 // frame headers, padding, priorities
}

// A Part is a piece of a reply, as an observer sees it.
type Part uint8

// The parts of a reply.
const (
	Header  Part = iota // fields, of interim replies too, as lines "name: value" with CRLF and an empty line
	Body                // content of DATA frames
	Trailer             // fields after the body, in the form of Header
)
