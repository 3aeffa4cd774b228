package http2

import (
	"encoding/binary"

	h2 "golang.org/x/net/http2"
)

// A reader is the place in what the peer sends.
type reader struct {
	head   [frameHeaderLen]byte
	have   int // bytes of head
	typ    h2.FrameType
	flags  h2.Flags
	id     uint32
	length int     // of the frame without its header
	left   int     // bytes of the frame still to come
	pad    int     // the last ones of them that are padding
	fixed  [8]byte // fixed part of the frame, or one setting
	got    int     // bytes of fixed
	want   int     // bytes of fixed that the frame has; 0 once they came
	cur    *stream // that the frame belongs to; nil without, or when it is closed

	block     []byte // field block so far, when it is cut
	blockID   uint32 // stream of the field block that is being read, or 0
	blockSize int    // of its frames so far
	blockEnds bool   // it ends the stream
}

// Feed takes what arrived from the peer, all of it, and appends to Out what that
// calls for. An error is the connection's: it wraps an
// [golang.org/x/net/http2.ConnectionError], and the GOAWAY that says so to the
// peer was appended. Nothing is read or sent any more then; End tells what failed.
func (c *Conn) Feed(b []byte, on Events) error {
	for len(b) > 0 && c.err == nil {
		b = b[c.read(b, on):]
	}
	return c.err
}

// read consumes the rest of a frame header, of a fixed part or of a frame, or as
// much of it as there is.
func (c *Conn) read(b []byte, on Events) (n int) {
	switch {
	case c.have < frameHeaderLen:
		n = copy(c.head[c.have:], b)
		if c.have += n; c.have < frameHeaderLen {
			return n
		}
		c.begin(on)
	case c.want > 0:
		n = copy(c.fixed[c.got:c.want], b)
		c.left -= n
		if c.got += n; c.got < c.want {
			return n
		}
		c.got, c.want = 0, 0
		c.fixedPart(on)
	default:
		n = min(len(b), c.left)
		c.content(b[:n], on)
		return n
	}
	if c.err == nil && c.left == 0 {
		c.content(nil, on)
	}
	return n
}

// begin judges a frame header.
func (c *Conn) begin(on Events) {
	h := &c.head
	c.length = int(h[0])<<16 | int(h[1])<<8 | int(h[2])
	c.typ, c.flags = h2.FrameType(h[3]), h2.Flags(h[4])
	c.id = binary.BigEndian.Uint32(h[5:]) & maxID
	c.left, c.pad, c.cur = c.length, 0, nil
	switch {
	case !c.peer.settled && (c.typ != h2.FrameSettings || c.flags.Has(h2.FlagSettingsAck)):
		c.fatal(h2.ErrCodeProtocol, "connection begins with %q, want SETTINGS", h[:])
		return
	case c.length > maxFrame:
		c.fatal(h2.ErrCodeFrameSize, "%v frame of %d bytes, want at most %d", c.typ, c.length, maxFrame)
		return
	case (c.typ == h2.FrameContinuation || c.blockID != 0) && (c.typ != h2.FrameContinuation || c.id != c.blockID || c.id == 0):
		c.fatal(h2.ErrCodeProtocol, "%v frame on stream %d in the field block of stream %d", c.typ, c.id, c.blockID)
		return
	}
	switch c.typ {
	case h2.FrameData:
		if c.ofStream() {
			c.beginData(on)
		}
	case h2.FrameHeaders:
		if c.ofStream() {
			c.beginHeaders(on)
		}
	case h2.FrameContinuation:
		c.cur = c.streams.find(c.id)
		c.fragment()
	case h2.FramePriority:
		if c.id == 0 {
			c.fatal(h2.ErrCodeProtocol, "PRIORITY frame on stream 0")
			return
		}
		c.fixedSize(5)
	case h2.FrameRSTStream:
		if c.ofStream() {
			c.fixedSize(4)
		}
	case h2.FrameSettings:
		c.beginSettings()
	case h2.FramePushPromise:
		c.fatal(h2.ErrCodeProtocol, "PUSH_PROMISE frame, want none as push is disabled")
	case h2.FramePing:
		if c.ofConn() {
			c.fixedSize(8)
		}
	case h2.FrameGoAway:
		switch {
		case !c.ofConn():
		case c.length < 8:
			c.fatal(h2.ErrCodeFrameSize, "GOAWAY frame of %d bytes, want at least 8", c.length)
		default:
			c.want = 8
		}
	case h2.FrameWindowUpdate:
		if c.id == 0 || c.ofStream() {
			c.fixedSize(4)
		}
	}
}

// ofStream finds the stream of the frame, and reports whether it is or was open.
func (c *Conn) ofStream() bool {
	if c.id&1 == 0 || c.id >= c.nextID {
		c.fatal(h2.ErrCodeProtocol, "%v frame on stream %d, want one that was opened", c.typ, c.id)
		return false
	}
	c.cur = c.streams.find(c.id)
	return true
}

// ofConn reports whether the frame belongs to the connection, as it must.
func (c *Conn) ofConn() bool {
	if c.id != 0 {
		c.fatal(h2.ErrCodeProtocol, "%v frame on stream %d, want stream 0", c.typ, c.id)
	}
	return c.id == 0
}

// fixedSize expects a frame of n bytes.
func (c *Conn) fixedSize(n int) {
	if c.length != n {
		c.fatal(h2.ErrCodeFrameSize, "%v frame of %d bytes, want %d", c.typ, c.length, n)
		return
	}
	c.want = n
}

// beginData takes a DATA frame in account, padding included, before its content
// comes.
func (c *Conn) beginData(on Events) {
	c.recv += int64(c.length)
	over := c.recv > connWindow
	if c.cur != nil {
		c.cur.recv += int64(c.length)
		over = over || c.cur.recv > streamWindow
	}
	switch {
	case over:
		c.fatal(h2.ErrCodeFlowControl, "DATA frame of %d bytes on stream %d is beyond the window", c.length, c.id)
	case !c.flags.Has(h2.FlagDataPadded):
		c.body(on)
	case c.length == 0:
		c.fatal(h2.ErrCodeFrameSize, "padded DATA frame of 0 bytes, want 1 or more")
	default:
		c.want = 1
	}
}

// body judges the content of a DATA frame by its length.
func (c *Conn) body(on Events) {
	s := c.cur
	if s == nil {
		return
	}
	n := int64(c.left - c.pad)
	s.reply.BodyBytes += n
	s.reply.FramingBytes += frameHeaderLen + int64(c.length) - n
	switch {
	case !s.final:
		c.malformed(s, h2.ErrCodeProtocol, FlawEarlyData, on)
	case n > 0 && s.empty():
		c.malformed(s, h2.ErrCodeProtocol, FlawUnexpected, on)
	case s.length >= 0 && s.reply.BodyBytes > s.length && !s.empty():
		c.malformed(s, h2.ErrCodeProtocol, FlawLength, on)
	}
}

// beginHeaders begins a field block.
func (c *Conn) beginHeaders(on Events) {
	c.blockID, c.blockSize, c.blockEnds = c.id, 0, c.flags.Has(h2.FlagHeadersEndStream)
	prefix := 0
	if c.flags.Has(h2.FlagHeadersPadded) {
		prefix++
	}
	if c.flags.Has(h2.FlagHeadersPriority) {
		prefix += 5
	}
	if c.length < prefix {
		c.fatal(h2.ErrCodeFrameSize, "HEADERS frame of %d bytes, want at least %d", c.length, prefix)
		return
	}
	if s := c.cur; s != nil && !s.begun {
		s.begun = true
		if on.Begun(s.ref); c.err != nil {
			return
		}
	}
	if c.want = prefix; prefix == 0 {
		c.fragment()
	}
}

// fragment takes a piece of a field block in account before it comes. Frame
// headers count too, or else empty frames could go on for ever.
func (c *Conn) fragment() {
	n := c.left - c.pad
	if c.blockSize += frameHeaderLen + n; c.blockSize > c.maxHeader {
		c.fatal(h2.ErrCodeEnhanceYourCalm, "field block of %d bytes or more, want at most %d", c.blockSize, c.maxHeader)
		return
	}
	s := c.cur
	if s == nil {
		return
	}
	s.reply.FramingBytes += frameHeaderLen + int64(c.length-n)
	if s.final {
		s.reply.TrailerBytes += int64(n)
	} else {
		s.reply.HeaderBytes += int64(n)
	}
}

// beginSettings judges the header of a SETTINGS frame.
func (c *Conn) beginSettings() {
	ack := c.flags.Has(h2.FlagSettingsAck)
	switch {
	case !c.ofConn():
	case ack && c.length > 0:
		c.fatal(h2.ErrCodeFrameSize, "SETTINGS acknowledgement of %d bytes, want 0", c.length)
	case c.length%6 != 0:
		c.fatal(h2.ErrCodeFrameSize, "SETTINGS frame of %d bytes, want a multiple of 6", c.length)
	case c.length > 0:
		c.want = 6
	}
}

// fixedPart takes the fixed part of a frame, or one setting.
func (c *Conn) fixedPart(on Events) {
	v := binary.BigEndian.Uint32(c.fixed[:])
	switch c.typ {
	case h2.FrameData, h2.FrameHeaders:
		padded := c.flags.Has(h2.FlagDataPadded) // the same flag in both
		if padded {
			c.pad = int(c.fixed[0])
		}
		switch {
		case c.pad > c.left:
			c.fatal(h2.ErrCodeProtocol, "%v frame with padding of %d bytes, want at most %d", c.typ, c.pad, c.left)
		case c.typ == h2.FrameData:
			c.body(on)
		default:
			c.fragment()
		}
	case h2.FrameRSTStream:
		c.reset(h2.ErrCode(v), on)
	case h2.FrameSettings:
		c.setting(h2.SettingID(binary.BigEndian.Uint16(c.fixed[:])), binary.BigEndian.Uint32(c.fixed[2:]))
		if c.left > 0 {
			c.want = 6
		}
	case h2.FramePing:
		if !c.flags.Has(h2.FlagPingAck) {
			c.frame(8, h2.FramePing, h2.FlagPingAck, 0)
			c.Out = append(c.Out, c.fixed[:8]...)
		}
	case h2.FrameGoAway:
		c.goaway(v&maxID, h2.ErrCode(binary.BigEndian.Uint32(c.fixed[4:])), on)
	case h2.FrameWindowUpdate:
		c.windowUpdate(v&maxWindow, on)
	}
}

// content takes what follows the fixed part, and ends the frame with its last
// byte. Of most frames it is of no interest.
func (c *Conn) content(b []byte, on Events) {
	shown := b[:max(0, min(len(b), c.left-c.pad))]
	c.left -= len(b)
	switch c.typ {
	case h2.FrameData:
		if c.Observer != nil && c.cur != nil && len(shown) > 0 {
			c.Observer(c.cur.ref, Body, shown)
		}
	case h2.FrameHeaders, h2.FrameContinuation:
		if c.left == 0 && len(c.block) == 0 && c.flags.Has(h2.FlagHeadersEndHeaders) {
			c.have = 0
			c.endBlock(shown, on) // which is whole: no need to copy it
			return
		}
		c.block = append(c.block, shown...)
	}
	if c.left > 0 {
		return
	}
	c.have = 0
	switch c.typ {
	case h2.FrameData:
		c.endData(on)
	case h2.FrameHeaders, h2.FrameContinuation:
		if c.flags.Has(h2.FlagHeadersEndHeaders) { // the same flag in both
			block := c.block
			c.block = c.block[:0]
			c.endBlock(block, on)
		}
	case h2.FrameSettings:
		if !c.flags.Has(h2.FlagSettingsAck) {
			c.endSettings(on)
		}
	}
}

// endData gives what was received back to the peer's windows, by halves of them,
// and ends the stream when the frame does.
func (c *Conn) endData(on Events) {
	if c.recv >= connWindow/2 {
		c.frame32(h2.FrameWindowUpdate, 0, uint32(c.recv))
		c.recv = 0
	}
	s := c.cur
	switch {
	case s == nil:
	case c.flags.Has(h2.FlagDataEndStream):
		c.complete(s, on)
	case s.recv >= streamWindow/2:
		c.frame32(h2.FrameWindowUpdate, s.id, uint32(s.recv))
		s.recv = 0
	}
}

// endBlock reads a whole field block. That of a closed stream is read too, as
// the dynamic table depends on it.
func (c *Conn) endBlock(b []byte, on Events) {
	c.blockID = 0
	s := c.cur
	m := message{trailer: s != nil && s.final, limit: c.maxHeader, length: -1}
	observed := c.Observer != nil && s != nil
	c.lines = c.lines[:0]
	b, ok := c.dec.start(b)
	for ok && len(b) > 0 {
		var name, value []byte
		if name, value, b, ok = c.dec.next(b); !ok {
			break
		}
		m.add(name, value)
		if observed && m.size <= m.limit {
			c.lines = append(append(c.lines, name...), ": "...)
			c.lines = append(append(c.lines, value...), "\r\n"...)
		}
	}
	if !ok {
		c.fatal(h2.ErrCodeCompression, "field block on stream %d cannot be decoded", c.id)
		return
	}
	if s == nil {
		return
	}
	if observed {
		part := Header
		if m.trailer {
			part = Trailer
		}
		c.Observer(s.ref, part, append(c.lines, "\r\n"...))
	}
	c.section(s, &m, on)
}

// section takes a field section of an open stream: of an interim reply, of the
// final one, or a trailer.
func (c *Conn) section(s *stream, m *message, on Events) {
	flaw := m.flaw
	switch {
	case flaw != 0:
	case m.trailer:
		if !c.blockEnds {
			flaw = FlawTrailer
		}
	case m.status == 0:
		flaw = FlawStatus
	case m.status < 200:
		s.reply.Informational++
		if c.blockEnds {
			flaw = FlawInterimEnd
		}
	default:
		s.final, s.length, s.reply.Status = true, m.length, m.status
	}
	switch {
	case flaw != 0:
		c.malformed(s, h2.ErrCodeProtocol, flaw, on)
	case c.blockEnds:
		c.complete(s, on)
	}
}

// complete ends a stream whose reply is whole.
func (c *Conn) complete(s *stream, on Events) {
	if s.length >= 0 && s.reply.BodyBytes != s.length && !s.empty() {
		c.malformed(s, h2.ErrCodeProtocol, FlawLength, on)
		return
	}
	if len(s.body) > 0 { // the peer has answered without it (RFC 9113, 8.1)
		c.frame32(h2.FrameRSTStream, s.id, uint32(h2.ErrCodeCancel))
	}
	c.reply = s.reply
	ref := s.ref
	c.close(s)
	on.Reply(ref, &c.reply)
}

// reset takes a RST_STREAM.
func (c *Conn) reset(code h2.ErrCode, on Events) {
	if c.cur == nil {
		return
	}
	kind := Reset
	if code == h2.ErrCodeRefusedStream {
		kind = Refused
	}
	c.fail(c.cur, Failure{Kind: kind, Code: code}, on)
}

// goaway takes a GOAWAY.
func (c *Conn) goaway(last uint32, code h2.ErrCode, on Events) {
	c.leaving = true
	c.failAbove(last, Failure{Kind: Refused, Code: code}, on)
	if c.err == nil {
		on.Goaway(code, last)
	}
}

// windowUpdate takes a WINDOW_UPDATE (RFC 9113, 6.9.1).
func (c *Conn) windowUpdate(n uint32, on Events) {
	s := c.cur
	switch {
	case c.id == 0 && n == 0:
		c.fatal(h2.ErrCodeProtocol, "WINDOW_UPDATE of 0, want 1 or more")
	case c.id == 0:
		if c.window += int64(n); c.window > maxWindow {
			c.fatal(h2.ErrCodeFlowControl, "WINDOW_UPDATE to a window of %d bytes, want at most %d", c.window, maxWindow)
			return
		}
		c.pushAll(on)
	case s == nil:
	case n == 0:
		c.malformed(s, h2.ErrCodeProtocol, FlawWindow, on)
	default:
		if s.window += int64(n); s.window > maxWindow {
			c.malformed(s, h2.ErrCodeFlowControl, FlawWindow, on)
		} else if len(s.body) > 0 {
			c.pushAll(on)
		}
	}
}

// setting applies a setting of the peer (RFC 9113, 6.5.2).
func (c *Conn) setting(id h2.SettingID, v uint32) {
	switch id {
	case h2.SettingHeaderTableSize:
		c.updateDue = c.updateDue || v < tableSize && !c.updated
	case h2.SettingEnablePush:
		if v != 0 {
			c.fatal(h2.ErrCodeProtocol, "ENABLE_PUSH of %d from a server, want 0", v)
		}
	case h2.SettingMaxConcurrentStreams:
		c.peer.streams, c.peer.limited = int(min(v, maxID)), true
	case h2.SettingInitialWindowSize:
		if v > maxWindow {
			c.fatal(h2.ErrCodeFlowControl, "INITIAL_WINDOW_SIZE of %d, want at most %d", v, maxWindow)
			return
		}
		for _, s := range c.streams.slots {
			if s == nil {
				continue
			}
			if s.window += int64(v) - c.peer.window; s.window > maxWindow {
				c.fatal(h2.ErrCodeFlowControl, "INITIAL_WINDOW_SIZE of %d makes a window of %d bytes, want at most %d", v, s.window, maxWindow)
				return
			}
		}
		c.peer.window = int64(v)
	case h2.SettingMaxFrameSize:
		if v < 1<<14 || v > 1<<24-1 {
			c.fatal(h2.ErrCodeProtocol, "MAX_FRAME_SIZE of %d, want %d to %d", v, 1<<14, 1<<24-1)
			return
		}
		c.peer.frame = int(v)
	}
}

// endSettings acknowledges settings, and lets go what waited for them.
func (c *Conn) endSettings(on Events) {
	c.peer.settled = true
	c.frame(0, h2.FrameSettings, h2.FlagSettingsAck, 0)
	if c.pushAll(on); c.err == nil {
		on.Settings()
	}
}
