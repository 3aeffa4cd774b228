package http1

import (
	"errors"
	"fmt"
)

// A ParseError says why a reply is not valid HTTP/1. The zero value is no error
// and is never returned.
type ParseError uint8

// The reasons to refuse a reply.
const (
	_                   ParseError = iota
	ErrStatusLine                  // not "HTTP/1.x" and a status of 100 to 999 (RFC 9112, 4)
	ErrField                       // malformed header or trailer line (RFC 9112, 5)
	ErrFold                        // folded line where the value decides the framing (RFC 9112, 5.2)
	ErrHeaderSize                  // header or trailer section above MaxHeaderBytes
	ErrContentLength               // Content-Length is no number, or two numbers (RFC 9112, 6.3)
	ErrTransferEncoding            // malformed Transfer-Encoding, or chunked twice (RFC 9112, 6.1)
	ErrChunkSize                   // malformed chunk-size line (RFC 9112, 7.1)
	ErrChunkEnd                    // chunk data not followed by CRLF (RFC 9112, 7.1)
)

var parseErrorText = [...]string{
	ErrStatusLine:       "http1: malformed status line",
	ErrField:            "http1: malformed header field",
	ErrFold:             "http1: folded framing field",
	ErrHeaderSize:       "http1: header section too large",
	ErrContentLength:    "http1: invalid Content-Length",
	ErrTransferEncoding: "http1: invalid Transfer-Encoding",
	ErrChunkSize:        "http1: malformed chunk size",
	ErrChunkEnd:         "http1: chunk data without line end",
}

// Error returns the reason, prefixed with the package.
func (e ParseError) Error() string {
	if e == 0 || int(e) >= len(parseErrorText) {
		return fmt.Sprintf("http1: unknown error %d", uint8(e))
	}
	return parseErrorText[e]
}

// Ends of stream before a reply was complete, from [Parser.EOF].
var (
	// ErrUnexpectedEOF is an end of stream inside a reply. ErrNoReply is one too.
	ErrUnexpectedEOF = errors.New("http1: connection closed before the reply was complete")
	// ErrNoReply is an end of stream before the first byte of a reply.
	ErrNoReply = fmt.Errorf("%w: no byte of it arrived", ErrUnexpectedEOF)
)
