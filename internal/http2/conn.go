package http2

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	h2 "golang.org/x/net/http2"
)

// DefaultMaxHeaderBytes is the limit of a field section when [Conn.Reset] is
// given none.
const DefaultMaxHeaderBytes = 64 << 10

// ErrEnded is returned by Feed after End.
var ErrEnded = errors.New("http2: connection has ended")

const (
	frameHeaderLen = 9
	maxFrame       = 1 << 14 // of the peer's frames: the protocol's default, which we leave
	maxID          = 1<<31 - 1
	maxWindow      = 1<<31 - 1
	defaultWindow  = 1<<16 - 1

	// What arrives is not stored, so the windows are only there to find out
	// a server that ignores them.
	streamWindow = 1 << 24
	connWindow   = 1 << 30

	// unsettledStreams is how many streams are opened at most before the peer
	// has said how many it takes; RFC 9113, 6.5.2 asks for no lower limit.
	unsettledStreams = 100
)

// A Conn is one HTTP/2 connection as its client sees it. [Conn.Reset] and
// [Conn.Open] come first. A Conn is used by one goroutine at a time. With few
// streams it takes less than 1 KiB, and 6 KiB more when the peer fills the
// dynamic table.
type Conn struct {
	// Out is what is to be sent, in order. The methods append to it; the caller
	// sends from its beginning and cuts off what was sent. It may be replaced by
	// another slice of the same content at any time.
	Out []byte
	// Observer, when set, is called with replies as they are consumed, also with
	// malformed ones. It must not keep b. It is for printing replies and slows
	// the connection down.
	Observer func(ref uint64, part Part, b []byte)

	dec       decoder
	lines     []byte // for the observer
	maxHeader int
	streams   streamTable
	waiting   []*stream // with a body that waits for a window, in the order of their ids

	peer      peer
	nextID    uint32
	window    int64 // bytes that the peer lets us send on all streams
	recv      int64 // bytes received and not yet given back to the peer's window
	updateDue bool  // the peer shrank the dynamic table and must be told that it is not used
	updated   bool  // it was
	leaving   bool  // no further streams: the peer said so
	err       error // why the connection is dead
	reply     Reply // for the event

	reader
}

// A peer is what the settings of the peer say.
type peer struct {
	settled bool  // the first SETTINGS came
	limited bool  // streams was set
	streams int   // open at a time
	window  int64 // of a new stream
	frame   int   // content of a frame at most
}

// room returns how many streams may be open at a time.
func (p *peer) room() int {
	switch {
	case p.limited:
		return p.streams
	case p.settled:
		return maxID
	}
	return unsettledStreams
}

// Reset prepares for a new connection. maxHeader bounds each field section, in
// bytes: as the protocol counts it (RFC 9113, 6.5.2), and on the wire; 0 and less
// mean DefaultMaxHeaderBytes. Out is emptied; Observer and all buffers stay.
func (c *Conn) Reset(maxHeader int) {
	if maxHeader <= 0 {
		maxHeader = DefaultMaxHeaderBytes
	}
	c.streams.clear()
	c.dec.reset()
	*c = Conn{
		Out: c.Out[:0], Observer: c.Observer,
		dec: c.dec, lines: c.lines, streams: c.streams, waiting: c.waiting[:0],
		maxHeader: min(maxHeader, 1<<30), nextID: 1, window: defaultWindow,
		peer:   peer{window: defaultWindow, frame: maxFrame},
		reader: reader{block: c.block[:0]},
	}
}

// Open begins the connection: preface, settings, and a large window.
func (c *Conn) Open() {
	c.Out = append(c.Out, h2.ClientPreface...)
	settings := [...]h2.Setting{
		{ID: h2.SettingEnablePush, Val: 0},
		{ID: h2.SettingInitialWindowSize, Val: streamWindow},
		{ID: h2.SettingMaxHeaderListSize, Val: uint32(c.maxHeader)},
	}
	c.frame(6*len(settings), h2.FrameSettings, 0, 0)
	for _, s := range settings {
		c.Out = binary.BigEndian.AppendUint16(c.Out, uint16(s.ID))
		c.Out = binary.BigEndian.AppendUint32(c.Out, s.Val)
	}
	c.frame32(h2.FrameWindowUpdate, 0, connWindow-defaultWindow)
}

// Room returns how many streams may be opened now.
func (c *Conn) Room() int {
	if c.err != nil || c.leaving || c.nextID > maxID {
		return 0
	}
	ids := (maxID-int(c.nextID))/2 + 1
	return max(0, min(c.peer.room()-c.streams.open, ids))
}

// Streams returns how many streams are open.
func (c *Conn) Streams() int { return c.streams.open }

// Send sends a request and returns the id of its stream, for Cancel. ref is what
// Events will be told. whole is false when some of the body waits for the peer's
// windows; it goes out with later calls of Feed. The id is 0 when there is no
// room: the request then needs another connection, or another time.
func (c *Conn) Send(r *Request, ref uint64) (id uint32, whole bool) {
	if c.Room() == 0 {
		return 0, false
	}
	id = c.nextID
	c.nextID += 2
	s := c.streams.add(id)
	s.ref, s.head, s.body, s.window = ref, r.head, r.body, c.peer.window
	block := r.block[1:] // without the change of the table's size
	if c.updateDue {
		block, c.updateDue, c.updated = r.block, false, true
	}
	flags := h2.Flags(0)
	if len(r.body) == 0 {
		flags = h2.FlagHeadersEndStream
	}
	for typ := h2.FrameHeaders; ; typ, flags = h2.FrameContinuation, 0 {
		n := min(len(block), c.peer.frame)
		if n == len(block) {
			flags |= h2.FlagHeadersEndHeaders
		}
		c.frame(n, typ, flags, id)
		c.Out = append(c.Out, block[:n]...)
		if block = block[n:]; len(block) == 0 {
			break
		}
	}
	if len(s.body) > 0 && !c.push(s) {
		c.waiting = append(c.waiting, s)
		return id, false
	}
	return id, true
}

// push sends as much of a body as the windows allow, and reports whether that
// was all.
func (c *Conn) push(s *stream) bool {
	for len(s.body) > 0 {
		n := int(min(int64(len(s.body)), int64(c.peer.frame), s.window, c.window))
		if n <= 0 {
			return false
		}
		flags := h2.Flags(0)
		if n == len(s.body) {
			flags = h2.FlagDataEndStream
		}
		c.frame(n, h2.FrameData, flags, s.id)
		c.Out = append(c.Out, s.body[:n]...)
		s.body = s.body[n:]
		s.window -= int64(n)
		c.window -= int64(n)
	}
	return true
}

// pushAll sends of all waiting bodies what the windows allow.
func (c *Conn) pushAll(on Events) {
	for i := 0; i < len(c.waiting); i++ {
		if s := c.waiting[i]; c.push(s) {
			c.waiting = slices.Delete(c.waiting, i, i+1)
			on.Sent(s.ref)
			i = -1 // the list may be another one by now
		}
	}
}

// Cancel gives up a request that has not ended. An id of none is ignored.
func (c *Conn) Cancel(id uint32) {
	if s := c.streams.find(id); s != nil && c.err == nil {
		c.frame32(h2.FrameRSTStream, id, uint32(h2.ErrCodeCancel))
		c.close(s)
	}
}

// End says that the connection is over: all that is open has failed, and nothing
// more will be sent or read.
func (c *Conn) End(on Events) {
	if c.err == nil {
		c.err = ErrEnded
	}
	c.failAbove(0, Failure{Kind: Lost}, on)
}

// close forgets a stream.
func (c *Conn) close(s *stream) {
	if len(s.body) > 0 {
		i := slices.Index(c.waiting, s)
		c.waiting = slices.Delete(c.waiting, i, i+1)
	}
	if c.cur == s {
		c.cur = nil
	}
	c.streams.remove(s)
}

// fail ends a stream without a reply.
func (c *Conn) fail(s *stream, f Failure, on Events) {
	ref := s.ref
	c.close(s)
	on.Failed(ref, f)
}

// failAbove ends all streams above an id, in order. No others can be opened.
func (c *Conn) failAbove(id uint32, f Failure, on Events) {
	var doomed []*stream
	for _, s := range c.streams.slots {
		if s != nil && s.id > id {
			doomed = append(doomed, s)
		}
	}
	slices.SortFunc(doomed, func(a, b *stream) int { return int(a.id) - int(b.id) })
	for _, s := range doomed {
		if s.id != 0 { // an event may have closed it
			c.fail(s, f, on)
		}
	}
}

// malformed ends a stream whose reply has a flaw.
func (c *Conn) malformed(s *stream, code h2.ErrCode, flaw Flaw, on Events) {
	c.frame32(h2.FrameRSTStream, s.id, uint32(code))
	c.fail(s, Failure{Kind: Malformed, Code: code, Flaw: flaw}, on)
}

// fatal ends the connection because of an error of the peer (RFC 9113, 5.4.1).
func (c *Conn) fatal(code h2.ErrCode, format string, args ...any) {
	c.err = fmt.Errorf("http2: %s: %w", fmt.Sprintf(format, args...), h2.ConnectionError(code))
	c.frame(8, h2.FrameGoAway, 0, 0)
	c.Out = binary.BigEndian.AppendUint64(c.Out, uint64(code)) // no stream of the peer's was processed
}

// frame appends a frame header.
func (c *Conn) frame(length int, typ h2.FrameType, flags h2.Flags, id uint32) {
	c.Out = append(c.Out, byte(length>>16), byte(length>>8), byte(length), byte(typ), byte(flags))
	c.Out = binary.BigEndian.AppendUint32(c.Out, id)
}

// frame32 appends a frame that consists of a number.
func (c *Conn) frame32(typ h2.FrameType, id, v uint32) {
	c.frame(4, typ, 0, id)
	c.Out = binary.BigEndian.AppendUint32(c.Out, v)
}
