// Package http1 is HTTP/1 as a load generator needs it: [Request] writes the
// bytes of a call once, [Parser] reads the replies. It does no I/O.
//
// # Design
//
// The parser is a byte-driven state machine. It keeps counters and a few flags
// and never a byte of the reply, so a reply may arrive in pieces of any size,
// the state of an idle connection is small (under 128 bytes), and no input
// makes it allocate. Text of no interest is skipped eight bytes at a time, a
// body is skipped by its length; only the names of header fields, and the
// values of Content-Length, Transfer-Encoding and Connection, are looked at
// byte by byte. However a reply is cut into pieces, status, counters, error and
// the number of bytes consumed are the same.
//
// A reply is judged by RFC 9110 and RFC 9112. What a recipient may tolerate and
// real servers send is tolerated (bare LF, one empty line before the status
// line, folded lines, a repeated Content-Length); what would leave the framing
// in doubt is a [ParseError].
//
// A 2xx reply to CONNECT opens a tunnel; the parser does not know the method
// and reads such a reply as any other.
//
// # Differences from net/http
//
// Where both accept a reply, status, body length, bytes consumed and reuse of
// the connection agree with [net/http.ReadResponse], with these exceptions. A
// fuzz test keeps the list complete.
//
// Accepted here, refused there:
//   - lists of transfer codings, codings other than chunked, an empty
//     Transfer-Encoding, several Transfer-Encoding lines;
//   - a Content-Length list of equal values ("5, 5"), and repeated values equal
//     as numbers but not as text ("5" and "05");
//   - an unusable Content-Length or Transfer-Encoding where neither decides:
//     replies to HEAD, 1xx, 204, 304, and Content-Length beside
//     Transfer-Encoding;
//   - one empty line before the status line;
//   - trailer sections with bare LF or longer than 4 KiB, and a Trailer field
//     that announces a framing field;
//   - chunk-size lines longer than 4 KiB, more than 16 hex digits with leading
//     zeros, more chunk extension than data, and blanks between a size and its
//     extension.
//
// Refused here, accepted there:
//   - versions other than HTTP/1.x, statuses below 100, more than one blank
//     between version and status;
//   - control characters in the reason phrase or in chunk extensions;
//   - blanks in a field name or before its colon;
//   - a folded Content-Length, Transfer-Encoding or Connection;
//   - header sections above [Parser.MaxHeaderBytes].
//
// Read otherwise: Transfer-Encoding in an HTTP/1.0 reply frames it here and is
// ignored there. The connection is not reused after 101, nor after a reply
// with Content-Length beside Transfer-Encoding.
package http1
