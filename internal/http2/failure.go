package http2

import (
	"fmt"

	h2 "golang.org/x/net/http2"
)

// A Failure says why a request has no complete reply. It is an error whose text
// is made only when asked for.
type Failure struct {
	Kind FailureKind
	Code h2.ErrCode // that the peer sent (Refused, Reset) or was sent (Malformed)
	Flaw Flaw       // of a Malformed reply
}

// A FailureKind is a sort of failure.
type FailureKind uint8

// The kinds of failures.
const (
	Refused   FailureKind = iota // never processed: REFUSED_STREAM, or above the last stream of GOAWAY
	Reset                        // RST_STREAM with another code
	Malformed                    // the reply breaks the protocol; the stream was reset
	Lost                         // the connection ended
)

// Error returns the failure, prefixed with the package.
func (f Failure) Error() string {
	switch f.Kind {
	case Refused:
		return fmt.Sprintf("http2: request refused by the peer (%v)", f.Code)
	case Reset:
		return fmt.Sprintf("http2: stream reset by the peer (%v)", f.Code)
	case Malformed:
		return fmt.Sprintf("http2: malformed reply: %v", f.Flaw)
	case Lost:
		return "http2: connection ended before the reply was complete"
	}
	return fmt.Sprintf("http2: unknown failure %d", uint8(f.Kind))
}

// A Flaw says what is wrong with a malformed reply. The zero value is nothing.
type Flaw uint8

// The flaws of a reply.
const (
	_              Flaw = iota
	FlawStatus          // :status is missing, repeated or not 100 to 999, or it is 101
	FlawPseudo          // pseudo-field other than :status, behind another field, or in a trailer
	FlawName            // field name with a character that does not belong there, such as an upper-case letter
	FlawValue           // field value with CR, LF or NUL
	FlawConnection      // field of an HTTP/1 connection
	FlawHeaderSize      // field section above the limit
	FlawLength          // Content-Length is no number, two numbers, or not the length of the body
	FlawUnexpected      // body to HEAD, or with 204 or 304
	FlawEarlyData       // DATA before the final header
	FlawInterimEnd      // the stream ended with an interim reply
	FlawTrailer         // a second header that does not end the stream
	FlawWindow          // WINDOW_UPDATE by nothing, or beyond the largest window
)

var flawText = [...]string{
	FlawStatus:     "want one :status of 100 to 999, and not 101",
	FlawPseudo:     "misplaced or unknown pseudo-field",
	FlawName:       "field name is no token in lower case",
	FlawValue:      "field value has CR, LF or NUL",
	FlawConnection: "field of an HTTP/1 connection",
	FlawHeaderSize: "field section too large",
	FlawLength:     "Content-Length is invalid or not the length of the body",
	FlawUnexpected: "body in a reply that has none",
	FlawEarlyData:  "DATA before the final header",
	FlawInterimEnd: "stream ended with an interim reply",
	FlawTrailer:    "trailer does not end the stream",
	FlawWindow:     "WINDOW_UPDATE of 0 or beyond the largest window",
}

// String returns the flaw in words.
func (f Flaw) String() string {
	if f == 0 || int(f) >= len(flawText) {
		return fmt.Sprintf("unknown flaw %d", uint8(f))
	}
	return flawText[f]
}
