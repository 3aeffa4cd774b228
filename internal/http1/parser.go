package http1

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// DefaultMaxHeaderBytes is the limit of a header section when
// [Parser.MaxHeaderBytes] is zero.
const DefaultMaxHeaderBytes = 64 << 10

// A Part is a piece of a reply, as an observer sees it.
type Part uint8

// The parts of a reply. The framing of chunks is not shown.
const (
	Header  Part = iota // status line and header lines, of interim replies too, with their line ends
	Body                // body, after de-chunking
	Trailer             // trailer section of a chunked reply, with the empty line that ends it
)

// A Parser reads one reply at a time, in pieces of any size. The zero value
// reads a reply to any method but HEAD; [Parser.Reset] prepares for the next.
// A Parser is used by one goroutine at a time and may be copied.
type Parser struct {
	// Observer, when set, is called with the bytes of the reply as they are
	// consumed, also with those ahead of an error. It must not keep b. It is for
	// printing replies and slows the parser down.
	Observer func(part Part, b []byte)
	// MaxHeaderBytes bounds the header section of each reply, interim ones
	// included, and the trailer section; zero means DefaultMaxHeaderBytes.
	MaxHeaderBytes int32

	reply
}

// A reply is the state that Reset clears.
type reply struct {
	bodyBytes    int64
	framingBytes int64
	interimBytes int64
	length       int64 // value of Content-Length; valid with hasLength
	num          int64 // number being read, then what is left of the body or of the chunk
	headerBytes  int32
	trailerBytes int32
	interim      uint32
	status       uint16

	state state
	sub   sub
	word  word  // word that the current name or list element may still become
	pos   uint8 // bytes of word matched, or of the status line consumed
	minor uint8
	last  lineKind
	err   ParseError

	head      bool // the request was HEAD
	blank     bool // the empty line before the status line was seen
	trailer   bool // field lines belong to the trailer section
	sawLength bool // a Content-Length line was seen
	hasLength bool // length is set
	badLength bool
	sawCoding bool // a Transfer-Encoding line was seen
	chunked   bool // chunked is among the codings
	framed    bool // chunked is the last coding
	badCoding bool
	optClose  bool // Connection: close
	optKeep   bool // Connection: keep-alive
	noReuse   bool // for a reason other than the Connection field
}

// A state is what the next byte belongs to.
type state uint8

const (
	beforeReply    state = iota // status line, or one empty line
	beforeReplyLF               // the empty line began with CR
	inStatusLine                // version and status; pos bytes are consumed
	inText                      // reason phrase or value of no interest, up to the line end
	inTextLF                    // the line end began with CR
	atLine                      // first byte of a header or trailer line
	inName                      // field name
	inLength                    // value of Content-Length
	inCoding                    // value of Transfer-Encoding
	inConnection                // value of Connection
	atLineLF                    // the empty line that ends the section began with CR
	afterSection                // the section is complete
	inBody                      // num bytes are left
	inBodyToClose               // body ends with the connection
	inChunkSize                 // chunk-size line, up to an extension or the line end
	inChunkExt                  // chunk extension
	inChunkLF                   // the end of the chunk-size line began with CR
	inChunkData                 // num bytes are left
	afterChunkData              // CR after the data
	afterChunkLF                // LF after the data
	complete
)

// A sub is the place inside a value or a chunk-size line.
type sub uint8

const (
	subStart  sub = iota // before a number or list element
	subToken             // in it
	subBlank             // in blanks behind it
	subParam             // in the parameters of a coding; in Connection: in what is no token
	subQuoted            // in a quoted string of a parameter
	subEscape            // behind a backslash in a quoted string
)

// A lineKind says what the last line was, for the line that may continue it.
type lineKind uint8

const (
	statusLine   lineKind = iota // or none: the first line of a section
	ordinaryLine                 // may be folded
	framingLine                  // must not
)

// A word is one of the names and tokens that the parser knows.
type word uint8

const (
	noWord word = iota
	wordLength
	wordConnection
	wordCoding
	wordChunked
	wordClose
	wordKeepAlive
)

var words = [...]string{
	noWord:         "",
	wordLength:     "content-length",
	wordConnection: "connection",
	wordCoding:     "transfer-encoding",
	wordChunked:    "chunked",
	wordClose:      "close",
	wordKeepAlive:  "keep-alive",
}

// commonLen is the length of "con", with which two of the names begin.
const commonLen = 3

// Reset prepares for the next reply on the connection. head says that its
// request was HEAD (in this case; the method "head" is another one). Observer
// and MaxHeaderBytes stay.
func (p *Parser) Reset(head bool) {
	p.reply = reply{head: head}
}

// Feed consumes b up to the end of the final reply. n bytes were used; the next
// reply begins at b[n:]. After an error, which is always a ParseError, n bytes
// came before the offence, and further calls return the same error. Once done,
// further calls consume nothing.
func (p *Parser) Feed(b []byte) (n int, done bool, err error) {
	for p.state != complete {
		if p.err != 0 {
			return n, false, p.err
		}
		if n == len(b) {
			return n, false, nil
		}
		rest, part, shown := b[n:], Header, true
		var k int
		switch {
		case p.state <= beforeReplyLF:
			k = p.beforeReply(rest)
		case p.state < afterSection && !p.trailer:
			k = p.header(rest)
		case p.state < afterSection:
			k, part = p.trailers(rest), Trailer
		case p.state == inBody, p.state == inChunkData:
			k, part = p.counted(rest), Body
		case p.state == inBodyToClose:
			k, part = len(rest), Body
			p.bodyBytes += int64(k)
		default:
			k, shown = p.chunkFraming(rest), false
		}
		if p.Observer != nil && shown && k > 0 {
			p.Observer(part, rest[:k])
		}
		n += k
	}
	return n, true, nil
}

// EOF says that the peer closed the connection. It returns nil when the reply is
// complete, which the close itself brings about for a body without a length
// (RFC 9112, 6.3 and 8), ErrNoReply when no byte of a reply had come, and
// ErrUnexpectedEOF otherwise; after an error of Feed it returns that error.
func (p *Parser) EOF() error {
	switch {
	case p.err != 0:
		return p.err
	case p.state == complete:
		return nil
	case p.state == inBodyToClose:
		p.state = complete
		return nil
	case !p.Started():
		return ErrNoReply
	}
	return ErrUnexpectedEOF
}

// Started reports whether any byte of the reply, or of an interim reply, was
// consumed or refused.
func (p *Parser) Started() bool { return p.state != beforeReply || p.interimBytes != 0 }

// Status returns the status code, 100 to 999, and 0 before it was read.
func (p *Parser) Status() int {
	if p.status < 100 {
		return 0 // the digits so far
	}
	return int(p.status)
}

// Minor returns the minor HTTP version, 0 to 9.
func (p *Parser) Minor() int { return int(p.minor) }

// KeepAlive reports whether the connection may carry another call after the
// complete reply (RFC 9112, 9.3): the version and the Connection field allow it,
// the body did not end with the connection, and the framing was not in doubt.
func (p *Parser) KeepAlive() bool {
	return !p.noReuse && !p.optClose && (p.minor > 0 || p.optKeep)
}

// LengthIgnored reports that Content-Length stood beside Transfer-Encoding and
// gave way to it (RFC 9112, 6.3). It is worth a note: the server may be broken
// or under attack.
func (p *Parser) LengthIgnored() bool { return p.framesByCoding() && p.sawLength }

// Informational returns the number of interim replies (1xx but 101) before the
// final one.
func (p *Parser) Informational() int { return int(p.interim) }

// InterimBytes returns the size of the interim replies, and of empty lines
// tolerated before status lines.
func (p *Parser) InterimBytes() int64 { return p.interimBytes }

// HeaderBytes returns the size of the status line and header lines of the final
// reply, with all line ends and the empty line.
func (p *Parser) HeaderBytes() int64 { return int64(p.headerBytes) }

// BodyBytes returns the size of the body after de-chunking.
func (p *Parser) BodyBytes() int64 { return p.bodyBytes }

// TrailerBytes returns the size of the trailer section with the empty line that
// ends it: 2 for a chunked reply without trailers, 0 for any other reply.
func (p *Parser) TrailerBytes() int64 { return int64(p.trailerBytes) }

// FramingBytes returns the size of the chunk-size lines and of the line ends
// after chunk data.
func (p *Parser) FramingBytes() int64 { return p.framingBytes }

// beforeReply consumes the empty line that may come before a status line: some
// servers end a body with a line end that they did not count. RFC 9112, 2.2
// grants it to requests.
func (p *Parser) beforeReply(b []byte) int {
	c := b[0]
	switch {
	case p.state == beforeReplyLF && c != '\n':
		p.err = ErrStatusLine
		return 0
	case c == '\r' && !p.blank && p.state == beforeReply:
		p.state = beforeReplyLF
	case c == '\n' && !p.blank:
		p.state, p.blank = beforeReply, true
	default:
		p.state = inStatusLine
		return 0
	}
	p.interimBytes++
	return 1
}

// header consumes lines of the header section and, at its end, decides what
// follows.
func (p *Parser) header(b []byte) int {
	n := p.section(b, &p.headerBytes)
	if p.state == afterSection {
		p.endHeader()
	}
	return n
}

// trailers consumes lines of the trailer section (RFC 9112, 7.1.2). Its fields
// change nothing.
func (p *Parser) trailers(b []byte) int {
	n := p.section(b, &p.trailerBytes)
	if p.state == afterSection {
		p.state = complete
	}
	return n
}

// section consumes lines of a header or trailer section of which size bytes
// came before, within the limit.
func (p *Parser) section(b []byte, size *int32) int {
	limit := p.MaxHeaderBytes
	if limit <= 0 {
		limit = DefaultMaxHeaderBytes
	}
	over := false
	if room := int(max(limit-*size, 0)); len(b) > room {
		b, over = b[:room], true
	}
	n := p.lines(b)
	*size += int32(n)
	if over && n == len(b) && p.err == 0 && p.state != afterSection {
		p.err = ErrHeaderSize
	}
	return n
}

// lines consumes b up to the end of the section or an offending byte.
//
// Line ends are CRLF or LF (RFC 9112, 2.2). A line that begins with a blank
// continues the one before (RFC 9112, 5.2), which must not be the status line
// nor one that the framing depends on. A name is a token directly followed by a
// colon (RFC 9112, 5.1); a value has no control characters but HTAB
// (RFC 9110, 5.5).
func (p *Parser) lines(b []byte) int {
	i := 0
	for i < len(b) {
		switch p.state {
		case inStatusLine:
			i = p.statusLine(b, i)
			if p.err != 0 {
				return i
			}

		case inText:
			i = skipText(b, i)
			switch {
			case i == len(b):
				return i
			case b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n':
				i += 2
				p.state = atLine
			case b[i] == '\r':
				i++
				p.state = inTextLF
			case b[i] == '\n':
				i++
				p.state = atLine
			default:
				p.err = p.lineError()
				return i
			}

		case inTextLF:
			if b[i] != '\n' {
				p.err = p.lineError()
				return i
			}
			i++
			p.state = atLine

		case atLine:
			switch c := b[i]; c {
			case '\r':
				i++
				p.state = atLineLF
			case '\n':
				p.state = afterSection
				return i + 1
			case ' ', '\t':
				switch p.last {
				case statusLine:
					p.err = ErrField
					return i
				case framingLine:
					p.err = ErrFold
					return i
				}
				i++
				p.state = inText
			default:
				if !isToken[c] {
					p.err = ErrField
					return i
				}
				p.state, p.pos, p.word = inName, 0, noWord
				if !p.trailer {
					p.word = nameWord(c)
				}
			}

		case inName:
			if p.word != noWord {
				i = p.matchName(b, i)
			}
			if p.word == noWord {
				for i < len(b) && isToken[b[i]] {
					i++
				}
			}
			if i == len(b) {
				return i
			}
			if b[i] != ':' {
				p.err = ErrField
				return i
			}
			i++
			p.beginValue()

		case inLength:
			for i < len(b) && p.lengthByte(b[i]) {
				i++
			}

		case inCoding:
			for i < len(b) && p.codingByte(b[i]) {
				i++
			}

		case inConnection:
			for i < len(b) && p.connectionByte(b[i]) {
				i++
			}

		case atLineLF:
			if b[i] != '\n' {
				p.err = ErrField
				return i
			}
			p.state = afterSection
			return i + 1
		}
	}
	return i
}

// lineError is the error for a byte that must not be in the current line.
func (p *Parser) lineError() ParseError {
	if p.last == statusLine {
		return ErrStatusLine
	}
	return ErrField
}

const (
	versionPrefix = "HTTP/1."
	minorPos      = len(versionPrefix)
	statusPos     = minorPos + 2
	reasonPos     = statusPos + 3
)

// statusLine consumes b[i:] up to the blank after the status or to the line end
// without a reason, which need not have that blank: "HTTP/1.1 200 OK",
// "HTTP/1.1 200 " and "HTTP/1.1 200" (RFC 9112, 4). Statuses without a meaning
// are valid, so are 600 to 999 (RFC 9110, 15).
func (p *Parser) statusLine(b []byte, i int) int {
	pos := int(p.pos)
	for ; i < len(b); i++ {
		c := b[i]
		ok := false
		switch {
		case pos < minorPos:
			ok = c == versionPrefix[pos]
		case pos == minorPos:
			if ok = isDigit(c); ok {
				p.minor = c - '0'
			}
		case pos < statusPos:
			ok = c == ' '
		case pos < reasonPos:
			if ok = isDigit(c) && (c > '0' || pos > statusPos); ok {
				p.status = p.status*10 + uint16(c-'0')
			}
		default:
			p.state = inText
			switch c {
			case ' ':
				return i + 1
			case '\r', '\n':
				return i
			}
		}
		if !ok {
			p.err = ErrStatusLine
			return i
		}
		pos++
	}
	p.pos = uint8(pos)
	return i
}

// nameWord returns the field name that a name beginning with c may become.
func nameWord(c byte) word {
	switch c | 0x20 {
	case 'c':
		return wordLength // or wordConnection: matchName decides behind "con"
	case 't':
		return wordCoding
	}
	return noWord
}

// matchName consumes b[i:] as long as the name may become the expected one. It
// sets word to noWord at the first byte that says otherwise. Setting bit 5
// turns upper case into lower case, and no other token character into a letter
// or a hyphen.
func (p *Parser) matchName(b []byte, i int) int {
	name, pos := words[p.word], int(p.pos)
	for ; i < len(b) && isToken[b[i]]; i++ {
		c := b[i] | 0x20
		switch {
		case pos < len(name) && name[pos] == c:
		case pos == commonLen && p.word == wordLength && c == words[wordConnection][pos]:
			p.word, name = wordConnection, words[wordConnection]
		default:
			p.word = noWord
			return i
		}
		pos++
	}
	p.pos = uint8(pos)
	if i < len(b) && pos < len(name) {
		p.word = noWord
	}
	return i
}

// beginValue is called behind the colon; word is the whole name, if a known one.
func (p *Parser) beginValue() {
	p.last, p.sub = framingLine, subStart
	switch p.word {
	case wordLength:
		p.state, p.sawLength = inLength, true
	case wordCoding:
		p.state, p.sawCoding = inCoding, true
	case wordConnection:
		p.state = inConnection
	default:
		p.state, p.last = inText, ordinaryLine
	}
}

// lengthByte takes a byte of Content-Length: digits, or a list of equal numbers
// (RFC 9110, 8.6). It returns false, leaving the byte and the rest of the line to
// inText, at the line end, at any other control character, and when the value is
// of no use. A value that is no number is an error only where it decides the
// framing, so that is left to endHeader.
func (p *Parser) lengthByte(c byte) bool {
	switch {
	case isDigit(c) && p.sub != subBlank:
		if p.sub == subStart {
			p.num, p.sub = 0, subToken
		}
		d := int64(c - '0')
		if p.num > (math.MaxInt64-d)/10 {
			break
		}
		p.num = p.num*10 + d
		return true
	case isBlank(c):
		if p.sub == subToken {
			p.sub = subBlank
		}
		return true
	case (c == ',' || c == '\r' || c == '\n') && p.sub != subStart:
		if p.hasLength && p.num != p.length {
			break
		}
		p.length, p.hasLength, p.sub = p.num, true, subStart
		if c == ',' {
			return true
		}
		p.state = inText
		return false
	}
	p.badLength = true
	p.state = inText
	return false
}

// codingByte takes a byte of Transfer-Encoding, a list of codings with
// parameters that may be empty in places (RFC 9112, 6.1; RFC 9110, 5.6.1.2).
// It returns false as lengthByte does.
func (p *Parser) codingByte(c byte) bool {
	if isControl(c) {
		p.badCoding = p.badCoding || p.sub >= subQuoted
		p.endCoding()
		p.state = inText
		return false
	}
	switch p.sub {
	case subStart:
		switch {
		case isBlank(c) || c == ',':
			return true
		case isToken[c]:
			p.sub, p.word, p.pos = subToken, wordChunked, 0
			p.matchToken(c)
			return true
		}
	case subToken:
		if isToken[c] {
			p.matchToken(c)
			return true
		}
		fallthrough
	case subBlank:
		switch {
		case isBlank(c):
			p.sub = subBlank
			return true
		case c == ',':
			p.endCoding()
			return true
		case c == ';' && !p.tokenIs(wordChunked): // which has no parameters (RFC 9112, 7.1)
			p.sub = subParam
			return true
		}
	case subParam:
		switch c {
		case ',':
			p.endCoding()
		case '"':
			p.sub = subQuoted
		}
		return true
	case subQuoted:
		switch c {
		case '"':
			p.sub = subParam
		case '\\':
			p.sub = subEscape
		}
		return true
	case subEscape:
		p.sub = subQuoted
		return true
	}
	p.badCoding = true
	p.state = inText
	return false
}

// endCoding ends an element of Transfer-Encoding. Chunked must not be applied
// twice (RFC 9112, 6.1), and frames the body only as the last coding.
func (p *Parser) endCoding() {
	if p.sub != subStart {
		p.framed = p.tokenIs(wordChunked)
		p.badCoding = p.badCoding || p.framed && p.chunked
		p.chunked = p.chunked || p.framed
	}
	p.sub = subStart
}

// connectionByte takes a byte of Connection, a list of tokens (RFC 9110, 7.6.1).
// It returns false as lengthByte does. What is no token is no option and says
// nothing.
func (p *Parser) connectionByte(c byte) bool {
	switch {
	case isControl(c):
		p.endOption()
		p.state = inText
		return false
	case c == ',':
		p.endOption()
	case isBlank(c):
		if p.sub == subToken {
			p.sub = subBlank
		}
	case p.sub == subStart:
		p.sub, p.pos, p.word = subToken, 0, noWord
		switch c | 0x20 {
		case 'c':
			p.word = wordClose
		case 'k':
			p.word = wordKeepAlive
		}
		p.matchToken(c)
	case p.sub == subToken:
		p.matchToken(c)
	default:
		p.sub, p.word = subParam, noWord
	}
	return true
}

// endOption ends an element of Connection.
func (p *Parser) endOption() {
	if p.sub != subStart {
		p.optClose = p.optClose || p.tokenIs(wordClose)
		p.optKeep = p.optKeep || p.tokenIs(wordKeepAlive)
	}
	p.sub = subStart
}

// matchToken takes a byte of a list element that may become word.
func (p *Parser) matchToken(c byte) {
	w := words[p.word]
	if int(p.pos) < len(w) && w[p.pos] == c|0x20 {
		p.pos++
		return
	}
	p.word = noWord
}

// tokenIs reports whether the list element just read is w.
func (p *Parser) tokenIs(w word) bool {
	return p.word == w && int(p.pos) == len(words[w])
}

// framesByCoding reports whether Transfer-Encoding decides how the body ends.
func (p *Parser) framesByCoding() bool { return p.sawCoding && !p.bodyless() }

// bodyless reports whether the reply ends with its header section, whatever the
// fields say: to HEAD, 1xx, 204 and 304 (RFC 9112, 6.3, first rule).
func (p *Parser) bodyless() bool {
	return p.head || p.status < 200 || p.status == 204 || p.status == 304
}

// endHeader decides how the body ends. The order of the cases is that of
// RFC 9112, 6.3.
func (p *Parser) endHeader() {
	if p.status < 200 && p.status != 101 {
		// An interim reply (RFC 9110, 15.2). 101 is the last one that is HTTP/1.
		p.reply = reply{
			head:         p.head,
			interim:      p.interim + 1,
			interimBytes: p.interimBytes + int64(p.headerBytes),
		}
		return
	}
	if p.sawCoding && p.minor == 0 {
		p.noReuse = true // faulty framing: process, then close (RFC 9112, 6.1)
	}
	switch {
	case p.bodyless():
		p.state = complete
		p.noReuse = p.noReuse || p.status == 101
	case p.badCoding:
		p.err = ErrTransferEncoding
	case p.framed:
		p.beginChunk()
		p.noReuse = p.noReuse || p.sawLength
	case p.sawCoding:
		p.state, p.noReuse = inBodyToClose, true
	case p.badLength:
		p.err = ErrContentLength
	case p.hasLength && p.length == 0:
		p.state = complete
	case p.hasLength:
		p.state, p.num = inBody, p.length
	default:
		p.state, p.noReuse = inBodyToClose, true
	}
}

// counted consumes bytes of a body or chunk of known size.
func (p *Parser) counted(b []byte) int {
	k := int(min(p.num, int64(len(b))))
	p.bodyBytes += int64(k)
	p.num -= int64(k)
	switch {
	case p.num > 0:
	case p.state == inBody:
		p.state = complete
	default:
		p.state = afterChunkData
	}
	return k
}

// beginChunk prepares for a chunk-size line.
func (p *Parser) beginChunk() {
	p.state, p.sub, p.num = inChunkSize, subStart, 0
}

// chunkFraming consumes what stands around chunk data, up to the data or the
// trailer section.
//
// A size is hex digits, at least one, and nothing else; blanks and extensions
// may follow and are skipped (RFC 9112, 7.1 and 7.1.1). Line ends are CRLF: the
// leave to take a bare LF (RFC 9112, 2.2) is not given for chunks.
func (p *Parser) chunkFraming(b []byte) int {
	i := 0
	for p.err == 0 && i < len(b) && p.state != inChunkData && p.state != atLine {
		c := b[i]
		switch p.state {
		case inChunkSize:
			p.chunkSizeByte(c)
		case inChunkExt:
			i = skipText(b, i)
			if i == len(b) {
				p.framingBytes += int64(i)
				return i
			}
			p.expect(b[i], '\r', inChunkLF, ErrChunkSize)
		case inChunkLF:
			next := inChunkData
			if p.num == 0 {
				next = atLine
				p.trailer, p.last = true, statusLine
			}
			p.expect(c, '\n', next, ErrChunkSize)
		case afterChunkData:
			p.expect(c, '\r', afterChunkLF, ErrChunkEnd)
		case afterChunkLF:
			p.expect(c, '\n', inChunkSize, ErrChunkEnd)
			p.sub, p.num = subStart, 0
		}
		if p.err == 0 {
			i++
		}
	}
	p.framingBytes += int64(i)
	return i
}

// expect goes on to next when c is want.
func (p *Parser) expect(c, want byte, next state, err ParseError) {
	if c != want {
		p.err = err
		return
	}
	p.state = next
}

// chunkSizeByte takes a byte of a chunk-size line ahead of any extension.
func (p *Parser) chunkSizeByte(c byte) {
	d := hexValue[c]
	switch {
	case d >= 0 && p.sub != subBlank && p.num <= math.MaxInt64>>4:
		p.num = p.num<<4 | int64(d)
		p.sub = subToken
	case p.sub == subStart:
		p.err = ErrChunkSize
	case isBlank(c):
		p.sub = subBlank
	case c == ';':
		p.state = inChunkExt
	default:
		p.expect(c, '\r', inChunkLF, ErrChunkSize)
	}
}

// skipText returns the index of the first control character but HTAB in b[i:],
// or len(b).
func skipText(b []byte, i int) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
	)
	for i+8 <= len(b) {
		x := binary.LittleEndian.Uint64(b[i : i+8])
		// A high bit is set for a byte below 0x20 or equal to 0x7f. A borrow can
		// set wrong ones too, but only above the first right one.
		del := x ^ 0x7f*ones
		m := ((x - 0x20*ones) &^ x) | ((del - ones) &^ del)
		if m &= highs; m == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(m) >> 3
		if b[i] != '\t' {
			return i
		}
		i++
	}
	for i < len(b) && !isControl(b[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// isControl tells the control characters but HTAB, which is a blank.
func isControl(c byte) bool { return c < ' ' && c != '\t' || c == 0x7f }

// isToken tells the characters of a token (RFC 9110, 5.6.2).
var isToken = func() (t [256]bool) {
	for c := range t {
		t[c] = c > ' ' && c < 0x7f
	}
	for _, c := range `"(),/:;<=>?@[\]{}` {
		t[c] = false
	}
	return t
}()

// hexValue is the value of a hexadecimal digit, -1 for any other byte.
var hexValue = func() (t [256]int8) {
	const digits, upper = "0123456789abcdef", "ABCDEF"
	for c := range t {
		t[c] = -1
	}
	for v, c := range digits {
		t[c] = int8(v)
	}
	for v, c := range upper {
		t[c] = int8(10 + v)
	}
	return t
}()
