package http2

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	h2 "golang.org/x/net/http2"
)

const (
	ack     = "SETTINGS 0: ack true"
	endFlag = h2.FlagDataEndStream
	status  = ":status"
	length  = "content-length"
	broken  = "RST_STREAM 1: PROTOCOL_ERROR"
	bad     = "failed 1: http2: malformed reply: "
)

var get = []string{"GET"}

// after is a server that first sends its settings.
func after(f func(s *server)) func(*server) {
	return func(s *server) {
		s.settings()
		f(s)
	}
}

// flawed is a script whose only reply has a flaw.
func flawed(name string, flaw Flaw, f func(s *server)) script {
	return script{name, get, after(f), nil, []string{"settings", "begun 1", bad + flaw.String()}, []string{ack, broken}, 0}
}

// fields is a flawed script of a reply with these fields.
func fields(name string, flaw Flaw, nv ...string) script {
	return flawed(name, flaw, func(s *server) { s.headers(1, true, nv...) })
}

// fatal is a script that ends the connection with its settings already taken.
func fatal(name string, code h2.ErrCode, f func(s *server), events ...string) script {
	return script{name, get, after(f), nil, append([]string{"settings"}, events...), []string{ack, fmt.Sprintf("GOAWAY 0: %v", code)}, code}
}

var scripts = []script{
	{"reply without body", get, after(func(s *server) { s.headers(1, true, status, "200") }), nil,
		[]string{"settings", "begun 1", "reply 1: 200, 0 interim, 0 body"}, []string{ack}, 0},
	{"reply with body", get, after(func(s *server) {
		s.headers(1, false, status, "404", length, "12", "x", " blanks are tolerated ")
		s.data(1, false, 5)
		s.data(1, false, 0)
		_ = s.WriteDataPadded(1, true, []byte("seven.."), make([]byte, 200))
	}), nil, []string{"settings", "begun 1", "reply 1: 404, 0 interim, 12 body"}, []string{ack}, 0},
	{"all padding", get, after(func(s *server) {
		s.headers(1, false, status, "200")
		s.raw(h2.FrameData, endFlag|h2.FlagDataPadded, 1, "\x03\x00\x00\x00")
	}), nil, []string{"settings", "begun 1", "reply 1: 200, 0 interim, 0 body"}, []string{ack}, 0},
	{"interim replies, trailer", get, after(func(s *server) {
		s.headers(1, false, status, "100")
		s.headers(1, false, status, "103", "link", "x")
		s.headers(1, false, status, "200")
		s.data(1, false, 3)
		s.headers(1, true, "grpc-status", "0", length, "of no interest")
	}), nil, []string{"settings", "begun 1", "reply 1: 200, 2 interim, 3 body"}, []string{ack}, 0},
	{"replies out of order", []string{"GET", "GET", "GET"}, after(func(s *server) {
		s.headers(5, false, status, "200")
		s.headers(1, false, status, "200", "x", "y")
		s.data(5, true, 5)
		s.headers(3, true, status, "204", "x", "y")
		s.data(1, true, 1)
	}), nil, []string{"settings", "begun 3", "begun 1", "reply 3: 200, 0 interim, 5 body", "begun 2", "reply 2: 204, 0 interim, 0 body",
		"reply 1: 200, 0 interim, 1 body"}, []string{ack}, 0},
	{"lengths without bodies", []string{"HEAD", "GET", "GET"}, after(func(s *server) {
		s.headers(1, true, status, "200", length, "5")
		s.headers(3, true, status, "204", length, "5")
		s.headers(5, false, status, "304", length, "5")
		s.data(5, true, 0)
	}), nil, []string{"settings", "begun 1", "reply 1: 200, 0 interim, 0 body", "begun 2", "reply 2: 204, 0 interim, 0 body",
		"begun 3", "reply 3: 304, 0 interim, 0 body"}, []string{ack}, 0},
	{"padding, priority, continuation", get, after(func(s *server) {
		b := s.fields(status, "200", "x", strings.Repeat("y", 300))
		_ = s.WriteHeaders(h2.HeadersFrameParam{StreamID: 1, BlockFragment: b[:3], EndStream: true, PadLength: 9, Priority: h2.PriorityParam{StreamDep: 7, Weight: 3}})
		_ = s.WriteContinuation(1, false, b[3:100])
		_ = s.WriteContinuation(1, false, nil)
		_ = s.WriteContinuation(1, true, b[100:])
	}), nil, []string{"settings", "begun 1", "reply 1: 200, 0 interim, 0 body"}, []string{ack}, 0},
	{"unknown frames and settings, priority, pings", get, func(s *server) {
		s.settings(h2.Setting{ID: 0x99, Val: 7}, h2.Setting{ID: h2.SettingEnablePush, Val: 0}, h2.Setting{ID: h2.SettingMaxHeaderListSize, Val: 1})
		s.raw(0x42, 0xff, 0, "whatever")
		s.raw(0x42, 0xff, 9, "")
		_ = s.WritePriority(1, h2.PriorityParam{StreamDep: 3})
		_ = s.WritePing(false, [8]byte([]byte("12345678")))
		_ = s.WritePing(true, [8]byte{})
		_ = s.WriteSettingsAck()
		s.headers(1, true, status, "200")
	}, nil, []string{"settings", "begun 1", "reply 1: 200, 0 interim, 0 body"}, []string{ack, `PING 0: ack true, "12345678"`}, 0},
	{"dynamic table of a closed stream", []string{"GET", "GET"}, after(func(s *server) {
		s.headers(1, false, status, "200")
		_ = s.WriteRSTStream(1, h2.ErrCodeInternal)
		s.headers(1, true, "x-in-the-table", "y")
		s.data(1, true, 3)
		_ = s.WriteRSTStream(1, h2.ErrCodeInternal)
		_ = s.WriteWindowUpdate(1, 3)
		s.headers(3, true, status, "200", "x-in-the-table", "y")
	}), nil, []string{"settings", "begun 1", "failed 1: http2: stream reset by the peer (INTERNAL_ERROR)", "begun 2", "reply 2: 200, 0 interim, 0 body"}, []string{ack}, 0},
	{"refused", get, after(func(s *server) { _ = s.WriteRSTStream(1, h2.ErrCodeRefusedStream) }), nil,
		[]string{"settings", "failed 1: http2: request refused by the peer (REFUSED_STREAM)"}, []string{ack}, 0},
	{"goaway", []string{"GET", "GET", "GET"}, after(func(s *server) {
		_ = s.WriteGoAway(1<<31-1, h2.ErrCodeNo, nil)
		_ = s.WriteGoAway(1, h2.ErrCodeNo, []byte("debug"))
		s.headers(1, true, status, "200")
	}), map[string]func(*Conn){
		"failed 2: http2: request refused by the peer (NO_ERROR)": func(c *Conn) { c.Cancel(5) },
	}, []string{"settings", "goaway NO_ERROR, last 2147483647", "failed 2: http2: request refused by the peer (NO_ERROR)",
		"goaway NO_ERROR, last 1", "begun 1", "reply 1: 200, 0 interim, 0 body"}, []string{ack, "RST_STREAM 5: CANCEL"}, 0},
	{"end in an event", []string{"GET", "GET", "GET"}, after(func(s *server) {
		_ = s.WriteGoAway(1, h2.ErrCodeNo, nil)
		s.headers(1, true, status, "200")
	}), map[string]func(*Conn){
		"failed 2: http2: request refused by the peer (NO_ERROR)": func(c *Conn) { c.End(&recorder{}) },
	}, []string{"settings", "failed 2: http2: request refused by the peer (NO_ERROR)"}, []string{ack}, 0},
	{"end at the first byte", get, after(func(s *server) { s.headers(1, true, status, "200") }),
		map[string]func(*Conn){"begun 1": func(c *Conn) { c.End(&recorder{}) }}, []string{"settings", "begun 1"}, []string{ack}, 0},
	{"cancel at the first byte", get, after(func(s *server) {
		s.headers(1, false, status, "200")
		s.data(1, true, 9)
	}), map[string]func(*Conn){"begun 1": func(c *Conn) { c.Cancel(1) }}, []string{"settings", "begun 1"}, []string{ack, "RST_STREAM 1: CANCEL"}, 0},
	{"next request from within a reply", get, after(func(s *server) {
		s.headers(1, true, status, "200")
		s.headers(3, true, status, "201")
	}), map[string]func(*Conn){
		"reply 1: 200, 0 interim, 0 body": func(c *Conn) { c.Send(&Request{block: []byte{0x20, 0x82}}, 7) },
	}, []string{"settings", "begun 1", "reply 1: 200, 0 interim, 0 body", "begun 7", "reply 7: 201, 0 interim, 0 body"}, []string{ack, "HEADERS 3: end true"}, 0},

	{"body as windows open", []string{"POST"}, after(func(s *server) { // 65535 bytes are out, 34465 wait
		_ = s.WriteWindowUpdate(1, 50000)
		_ = s.WriteWindowUpdate(0, 100)
		_ = s.WriteWindowUpdate(0, 100000)
		s.headers(1, true, status, "200")
	}), nil, []string{"settings", "sent 1", "begun 1", "reply 1: 200, 0 interim, 0 body"}, []string{ack, "DATA 1: 100 bytes, end false",
		"DATA 1: 16384 bytes, end false", "DATA 1: 16384 bytes, end false", "DATA 1: 1597 bytes, end true"}, 0},
	{"two bodies take turns with the connection's window", []string{"POST", "POST"}, func(s *server) {
		s.settings(h2.Setting{ID: h2.SettingInitialWindowSize, Val: 100000})
		_ = s.WriteWindowUpdate(0, 34465)
		_ = s.WriteWindowUpdate(0, 100000)
	}, nil, []string{"settings", "sent 1", "sent 2"}, []string{ack,
		"DATA 1: 16384 bytes, end false", "DATA 1: 16384 bytes, end false", "DATA 1: 1697 bytes, end true",
		"DATA 3: 16384 bytes, end false", "DATA 3: 16384 bytes, end false", "DATA 3: 16384 bytes, end false",
		"DATA 3: 16384 bytes, end false", "DATA 3: 16384 bytes, end false", "DATA 3: 16384 bytes, end false", "DATA 3: 1696 bytes, end true"}, 0},
	{"negative window", []string{"POST"}, func(s *server) {
		s.settings(h2.Setting{ID: h2.SettingInitialWindowSize, Val: 0}, h2.Setting{ID: h2.SettingMaxFrameSize, Val: 1 << 20})
		_ = s.WriteWindowUpdate(0, 100000)
		_ = s.WriteWindowUpdate(1, 65535) // back to 0
		_ = s.WriteWindowUpdate(1, 1)
		s.settings(h2.Setting{ID: h2.SettingInitialWindowSize, Val: 100000})
	}, nil, []string{"settings", "sent 1", "settings"}, []string{ack, "DATA 1: 1 bytes, end false", ack, "DATA 1: 34464 bytes, end true"}, 0},
	{"reply before the request was sent", []string{"POST"}, after(func(s *server) {
		s.headers(1, true, status, "413")
		_ = s.WriteRSTStream(1, h2.ErrCodeNo)
	}), nil, []string{"settings", "begun 1", "reply 1: 413, 0 interim, 0 body"}, []string{ack, "RST_STREAM 1: CANCEL"}, 0},
	{"cancel a body that waits", []string{"POST", "POST", "POST"}, after(func(s *server) {
		_ = s.WriteWindowUpdate(1, 100000)
		_ = s.WriteWindowUpdate(3, 100000)
		_ = s.WriteWindowUpdate(5, 100000)
		_ = s.WriteWindowUpdate(0, 1<<20)
	}), map[string]func(*Conn){"sent 1": func(c *Conn) { c.Cancel(3); c.Cancel(1); c.Cancel(99) }}, []string{"settings", "sent 1", "sent 3"}, []string{ack,
		"DATA 1: 16384 bytes, end false", "DATA 1: 16384 bytes, end false", "DATA 1: 1697 bytes, end true", "RST_STREAM 3: CANCEL", "RST_STREAM 1: CANCEL",
		"DATA 5: 16384 bytes, end false", "DATA 5: 16384 bytes, end false", "DATA 5: 16384 bytes, end false",
		"DATA 5: 16384 bytes, end false", "DATA 5: 16384 bytes, end false", "DATA 5: 16384 bytes, end false", "DATA 5: 1696 bytes, end true"}, 0},

	fields("no fields", FlawStatus),
	fields("no status", FlawStatus, "x", "y"),
	fields("two statuses", FlawStatus, status, "200", status, "200"),
	fields("status of two digits", FlawStatus, status, "20"),
	fields("status of a letter", FlawStatus, status, "2x0"),
	fields("status below 100", FlawStatus, status, "099"),
	fields("status 101", FlawStatus, status, "101"),
	fields("pseudo-field of a request", FlawPseudo, status, "200", ":path", "/"),
	fields("late status", FlawPseudo, "x", "y", status, "200"),
	fields("upper-case name", FlawName, status, "200", "X", "y"),
	fields("empty name", FlawName, status, "200", "", "y"),
	fields("name with colon", FlawName, status, "200", "a:b", "y"),
	fields("value with line end", FlawValue, status, "200", "x", "a\r\nb"),
	fields("value with NUL", FlawValue, status, "200", "x", "\x00"),
	fields("connection", FlawConnection, status, "200", "connection", "close"),
	fields("transfer-encoding", FlawConnection, status, "200", "transfer-encoding", "chunked"),
	fields("header list", FlawHeaderSize, status, "200", "x", strings.Repeat("e", 1000)), // Huffman-coded, so that it fits on the wire
	fields("length of letters", FlawLength, status, "200", length, "x"),
	fields("empty length", FlawLength, status, "200", length, ""),
	fields("huge length", FlawLength, status, "200", length, "9999999999999999999"),
	fields("two lengths", FlawLength, status, "200", length, "1", length, "2"),
	fields("length without a body", FlawLength, status, "200", length, "1"),
	fields("only an interim reply", FlawInterimEnd, status, "100"),
	flawed("short body", FlawLength, func(s *server) {
		s.headers(1, false, status, "200", length, "5", length, "5")
		s.data(1, true, 4)
	}),
	flawed("long body", FlawLength, func(s *server) {
		s.headers(1, false, status, "200", length, "5")
		s.data(1, false, 6)
		s.data(1, true, 6)
	}),
	flawed("body of length 0", FlawLength, func(s *server) {
		s.headers(1, false, status, "200", length, "0")
		s.data(1, false, 1)
	}),
	flawed("short body before a trailer", FlawLength, func(s *server) {
		s.headers(1, false, status, "200", length, "5")
		s.headers(1, true, "x", "y")
	}),
	flawed("body of 204", FlawUnexpected, func(s *server) {
		s.headers(1, false, status, "204")
		s.data(1, true, 1)
	}),
	flawed("trailer that does not end", FlawTrailer, func(s *server) {
		s.headers(1, false, status, "200")
		s.headers(1, false, "x", "y")
	}),
	flawed("status in a trailer", FlawPseudo, func(s *server) {
		s.headers(1, false, status, "200")
		s.headers(1, true, status, "200")
	}),
	flawed("body after an interim reply", FlawEarlyData, func(s *server) {
		s.headers(1, false, status, "100")
		s.data(1, true, 1)
	}),
	{"body first", get, after(func(s *server) { s.data(1, true, 1) }), nil, []string{"settings", bad + FlawEarlyData.String()}, []string{ack, broken}, 0},
	{"window update by 0", get, after(func(s *server) { _ = s.WriteWindowUpdate(1, 0) }), nil, []string{"settings", bad + FlawWindow.String()}, []string{ack, broken}, 0},
	{"stream window too large", get, after(func(s *server) { _ = s.WriteWindowUpdate(1, 1<<31-1) }), nil, []string{"settings", bad + FlawWindow.String()},
		[]string{ack, "RST_STREAM 1: FLOW_CONTROL_ERROR"}, 0},

	{"HTTP/1", get, func(s *server) { s.out.WriteString("HTTP/1.1 400 Bad Request\r\n\r\n") }, nil, nil, []string{"GOAWAY 0: PROTOCOL_ERROR"}, h2.ErrCodeProtocol},
	{"first frame no settings", get, func(s *server) { s.headers(1, true, status, "200") }, nil, nil, []string{"GOAWAY 0: PROTOCOL_ERROR"}, h2.ErrCodeProtocol},
	{"first frame acknowledges", get, func(s *server) { _ = s.WriteSettingsAck() }, nil, nil, []string{"GOAWAY 0: PROTOCOL_ERROR"}, h2.ErrCodeProtocol},
	{"push enabled", get, func(s *server) { s.settings(h2.Setting{ID: h2.SettingEnablePush, Val: 1}) }, nil, nil, []string{"GOAWAY 0: PROTOCOL_ERROR"}, h2.ErrCodeProtocol},
	{"initial window", get, func(s *server) { s.settings(h2.Setting{ID: h2.SettingInitialWindowSize, Val: 1 << 31}) }, nil, nil,
		[]string{"GOAWAY 0: FLOW_CONTROL_ERROR"}, h2.ErrCodeFlowControl},
	{"small frames", get, func(s *server) { s.settings(h2.Setting{ID: h2.SettingMaxFrameSize, Val: 1<<14 - 1}) }, nil, nil,
		[]string{"GOAWAY 0: PROTOCOL_ERROR"}, h2.ErrCodeProtocol},
	{"large frames", get, func(s *server) { s.settings(h2.Setting{ID: h2.SettingMaxFrameSize, Val: 1 << 24}) }, nil, nil,
		[]string{"GOAWAY 0: PROTOCOL_ERROR"}, h2.ErrCodeProtocol},
	fatal("initial window that overflows an open one", h2.ErrCodeFlowControl, func(s *server) {
		_ = s.WriteWindowUpdate(1, 1)
		s.settings(h2.Setting{ID: h2.SettingInitialWindowSize, Val: 1<<31 - 1})
	}),
	fatal("frame too large", h2.ErrCodeFrameSize, func(s *server) { s.raw(h2.FrameData, 0, 1, strings.Repeat("x", maxFrame+1)) }),
	fatal("push promise", h2.ErrCodeProtocol, func(s *server) {
		_ = s.WritePushPromise(h2.PushPromiseParam{StreamID: 1, PromiseID: 2, BlockFragment: s.fields(":path", "/"), EndHeaders: true})
	}),
	fatal("data on stream 0", h2.ErrCodeProtocol, func(s *server) { s.data(0, false, 1) }),
	fatal("data on an idle stream", h2.ErrCodeProtocol, func(s *server) { s.data(3, false, 1) }),
	fatal("headers on an even stream", h2.ErrCodeProtocol, func(s *server) { s.headers(2, true, status, "200") }),
	fatal("reset of an idle stream", h2.ErrCodeProtocol, func(s *server) { _ = s.WriteRSTStream(3, h2.ErrCodeNo) }),
	fatal("window of an idle stream", h2.ErrCodeProtocol, func(s *server) { _ = s.WriteWindowUpdate(3, 1) }),
	fatal("window update of the connection by 0", h2.ErrCodeProtocol, func(s *server) { _ = s.WriteWindowUpdate(0, 0) }),
	fatal("connection window too large", h2.ErrCodeFlowControl, func(s *server) { _ = s.WriteWindowUpdate(0, 1<<31-1) }),
	fatal("priority of stream 0", h2.ErrCodeProtocol, func(s *server) { s.raw(h2.FramePriority, 0, 0, "12345") }),
	fatal("priority of 4 bytes", h2.ErrCodeFrameSize, func(s *server) { s.raw(h2.FramePriority, 0, 1, "1234") }),
	fatal("reset of 3 bytes", h2.ErrCodeFrameSize, func(s *server) { s.raw(h2.FrameRSTStream, 0, 1, "123") }),
	fatal("ping of 7 bytes", h2.ErrCodeFrameSize, func(s *server) { s.raw(h2.FramePing, 0, 0, "1234567") }),
	fatal("ping on a stream", h2.ErrCodeProtocol, func(s *server) { s.raw(h2.FramePing, 0, 1, "12345678") }),
	fatal("window update of 5 bytes", h2.ErrCodeFrameSize, func(s *server) { s.raw(h2.FrameWindowUpdate, 0, 0, "12345") }),
	fatal("goaway of 7 bytes", h2.ErrCodeFrameSize, func(s *server) { s.raw(h2.FrameGoAway, 0, 0, "1234567") }),
	fatal("goaway on a stream", h2.ErrCodeProtocol, func(s *server) { s.raw(h2.FrameGoAway, 0, 1, "12345678") }),
	fatal("settings of 5 bytes", h2.ErrCodeFrameSize, func(s *server) { s.raw(h2.FrameSettings, 0, 0, "12345") }),
	fatal("settings on a stream", h2.ErrCodeProtocol, func(s *server) { s.raw(h2.FrameSettings, 0, 1, "") }),
	fatal("acknowledgement with settings", h2.ErrCodeFrameSize, func(s *server) { s.raw(h2.FrameSettings, h2.FlagSettingsAck, 0, "123456") }),
	fatal("continuation of nothing", h2.ErrCodeProtocol, func(s *server) { _ = s.WriteContinuation(1, true, nil) }),
	fatal("continuation on stream 0", h2.ErrCodeProtocol, func(s *server) { _ = s.WriteContinuation(0, true, nil) }),
	fatal("other frame in a field block", h2.ErrCodeProtocol, func(s *server) {
		s.raw(h2.FrameHeaders, 0, 1, "\x88")
		_ = s.WritePing(false, [8]byte{})
	}, "begun 1"),
	fatal("other stream in a field block", h2.ErrCodeProtocol, func(s *server) {
		s.raw(h2.FrameHeaders, 0, 1, "\x88")
		_ = s.WriteContinuation(3, true, nil)
	}, "begun 1"),
	fatal("endless field block", h2.ErrCodeEnhanceYourCalm, func(s *server) {
		s.raw(h2.FrameHeaders, 0, 1, "\x88")
		for range 1000 {
			_ = s.WriteContinuation(1, false, nil)
		}
	}, "begun 1"),
	fatal("large field block", h2.ErrCodeEnhanceYourCalm, func(s *server) { s.headers(1, true, "x", strings.Repeat("\x01", 2000)) }, "begun 1"),
	fatal("padding of data", h2.ErrCodeProtocol, func(s *server) { s.raw(h2.FrameData, h2.FlagDataPadded, 1, "\x01") }),
	fatal("padding without length", h2.ErrCodeFrameSize, func(s *server) { s.raw(h2.FrameData, h2.FlagDataPadded, 1, "") }),
	fatal("padding of headers", h2.ErrCodeProtocol, func(s *server) { s.raw(h2.FrameHeaders, h2.FlagHeadersPadded, 1, "\x02\x88") }, "begun 1"),
	fatal("headers without their priority", h2.ErrCodeFrameSize, func(s *server) { s.raw(h2.FrameHeaders, h2.FlagHeadersPriority, 1, "1234") }),
	fatal("index of nothing", h2.ErrCodeCompression, func(s *server) { s.raw(h2.FrameHeaders, h2.FlagHeadersEndHeaders, 1, "\xbe") }, "begun 1"),
	fatal("cut field", h2.ErrCodeCompression, func(s *server) { s.raw(h2.FrameHeaders, h2.FlagHeadersEndHeaders, 1, "\x00\x01x") }, "begun 1"),
}

func TestScripts(t *testing.T) {
	t.Parallel()
	for _, s := range scripts {
		t.Run(s.name, s.test)
	}
}

// TestFlowControl checks that what was received is given back by halves of the
// windows, and that a server which goes beyond one is found out.
func TestFlowControl(t *testing.T) {
	t.Parallel()
	var c Conn
	c.Reset(0)
	get := request(t, "GET", 0)
	c.Send(get, 1)
	c.Send(get, 2)
	s := newServer()
	s.settings()
	s.headers(1, false, status, "200")
	s.data(1, false, maxFrame)
	header, chunk := s.out.Bytes()[:s.out.Len()-maxFrame-frameHeaderLen], s.out.Bytes()[s.out.Len()-maxFrame-frameHeaderLen:]
	var r recorder
	if err := c.Feed(header, &r); err != nil {
		t.Fatal(err)
	}
	c.Out = c.Out[:0]
	for range connWindow/2/maxFrame + 1 {
		if err := c.Feed(chunk, &r); err != nil {
			t.Fatal(err)
		}
	}
	got := frames(t, c.Out)
	if n, want := len(got), connWindow/streamWindow+1; n != want {
		t.Fatalf("%d window updates, want %d", n, want)
	}
	half := fmt.Sprintf("WINDOW_UPDATE 1: %d", streamWindow/2)
	for i, f := range got[:len(got)-2] {
		if f != half {
			t.Errorf("frame %d is %q, want %q", i, f, half)
		}
	}
	if f, want := got[len(got)-2], fmt.Sprintf("WINDOW_UPDATE 0: %d", connWindow/2); f != want {
		t.Errorf("frame before the last is %q, want %q", f, want)
	}
	// A stream that has the rest of its window used up by one frame.
	other := c.streams.find(3)
	other.final, other.recv, chunk[8] = true, streamWindow-maxFrame, 3
	if err := c.Feed(chunk, &r); err != nil {
		t.Errorf("a whole window: %v", err)
	}
	other.recv = streamWindow - maxFrame + 1
	if err := c.Feed(chunk, &r); err == nil || !strings.Contains(err.Error(), "FLOW_CONTROL_ERROR") {
		t.Errorf("beyond the window: error %v, want FLOW_CONTROL_ERROR", err)
	}
}

// TestRoom checks how many streams may be opened.
func TestRoom(t *testing.T) {
	t.Parallel()
	var c Conn
	c.Reset(0)
	r := recorder{}
	get := request(t, "GET", 0)
	check := func(want int) {
		t.Helper()
		if got := c.Room(); got != want {
			t.Errorf("Room = %d, want %d", got, want)
		}
		if want == 0 {
			if id, _ := c.Send(get, 1); id != 0 {
				t.Errorf("Send = %d without room, want 0", id)
			}
		}
	}
	feed := func(f func(s *server)) {
		t.Helper()
		s := newServer()
		f(s)
		if err := c.Feed(s.out.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
	}
	check(unsettledStreams)
	c.Send(get, 1)
	check(unsettledStreams - 1)
	feed(func(s *server) { s.settings() })
	check(1<<30 - 1) // all the ids, but one
	feed(func(s *server) { s.settings(h2.Setting{ID: h2.SettingMaxConcurrentStreams, Val: 3}) })
	check(2)
	c.Send(get, 2)
	c.Send(get, 3)
	check(0)
	feed(func(s *server) { s.settings(h2.Setting{ID: h2.SettingMaxConcurrentStreams, Val: 1}) })
	check(0)
	c.Cancel(1)
	c.Cancel(3)
	check(0)
	c.Cancel(5)
	check(1)
	c.nextID = maxID
	if id, _ := c.Send(get, 4); id != maxID {
		t.Errorf("last id is %d, want %d", id, maxID)
	}
	c.Cancel(maxID)
	check(0)

	c.Reset(0)
	check(unsettledStreams)
	feed(func(s *server) {
		s.settings()
		_ = s.WriteGoAway(0, h2.ErrCodeNo, nil)
	})
	check(0)
	c.Reset(0)
	c.End(&r)
	check(0)
	if err := c.Feed([]byte("x"), &r); err != ErrEnded {
		t.Errorf("Feed after End: error %v, want %v", err, ErrEnded)
	}
}

// TestEnd checks that what is open fails, in order, also after an error, and
// that a connection works after Reset as a new one does.
func TestEnd(t *testing.T) {
	t.Parallel()
	var c Conn
	for range 3 {
		c.Reset(0)
		c.Open()
		for ref := range uint64(20) {
			c.Send(request(t, "POST", 1<<17), ref)
		}
		c.Cancel(21)
		var r recorder
		if err := c.Feed([]byte("HTTP/1.1 400 Bad Request\r\n"), &r); err == nil {
			t.Error("Feed of HTTP/1: no error")
		}
		c.End(&r)
		c.End(&r)
		if got := c.Streams(); got != 0 {
			t.Errorf("%d streams are open after End, want 0", got)
		}
		if len(r.events) != 19 {
			t.Fatalf("%d events, want 19: %q", len(r.events), r.events)
		}
		for i, line := range r.events {
			ref := i
			if ref >= 10 {
				ref++ // which was cancelled
			}
			if want := fmt.Sprintf("failed %d: %v", ref, Failure{Kind: Lost}); line != want {
				t.Errorf("event %d is %q, want %q", i, line, want)
			}
		}
	}
}

// TestReset leaves a connection with open streams in the middle of a frame, and
// checks that the next one knows nothing of it.
func TestReset(t *testing.T) {
	t.Parallel()
	s := newServer()
	s.settings(h2.Setting{ID: h2.SettingInitialWindowSize, Val: 7}, h2.Setting{ID: h2.SettingHeaderTableSize, Val: 7})
	s.headers(1, true, status, "200", "x-in-the-table", "y")
	_ = s.WriteGoAway(1<<31-1, h2.ErrCodeNo, nil)
	s.raw(h2.FrameHeaders, 0, 3, "\x88\x00\x01")
	whole := s.out.Bytes()
	fresh := newServer()
	fresh.settings()
	fresh.headers(3, true, status, "404")
	fresh.headers(1, true, status, "200")
	want := []string{"settings", "begun 2", "reply 2: 404, 0 interim, 0 body", "begun 1", "reply 1: 200, 0 interim, 0 body"}
	var c Conn
	var out []byte
	for cut := range whole {
		c.Reset(0)
		c.Open()
		c.Send(request(t, "POST", 100000), 1)
		c.Send(request(t, "GET", 0), 2)
		if cut == 0 {
			out = append(out, c.Out...)
		} else if string(c.Out) != string(out) {
			t.Fatalf("a connection after one cut at %d sends something else than the first", cut-1)
		}
		r := recorder{}
		if err := c.Feed(fresh.out.Bytes(), &r); err != nil || !slices.Equal(r.events, want) {
			t.Fatalf("a connection after one cut at %d: events %q, error %v, want %q", cut-1, r.events, err, want)
		}
		c.Reset(0)
		c.Send(request(t, "POST", 100000), 1)
		c.Send(request(t, "GET", 0), 2)
		if err := c.Feed(whole[:cut], &recorder{}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFailureTexts checks that every failure has words of its own.
func TestFailureTexts(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for kind := range Lost + 2 {
		seen[Failure{Kind: kind, Code: h2.ErrCodeCancel}.Error()] = true
	}
	for flaw := range FlawWindow + 2 {
		seen[Failure{Kind: Malformed, Flaw: flaw}.Error()] = true
	}
	// A malformed reply without a flaw is among both.
	if want := int(Lost+2) + int(FlawWindow+2) - 1; len(seen) != want {
		t.Errorf("%d texts, want %d: %v", len(seen), want, seen)
	}
}

// TestCounts checks that the byte counts add up to the frames of the stream.
func TestCounts(t *testing.T) {
	t.Parallel()
	var c Conn
	c.Reset(0)
	c.Send(request(t, "GET", 0), 1)
	s := newServer()
	s.settings()
	before := s.out.Len()
	s.headers(1, false, status, "103")
	b := s.fields(status, "200", "x", strings.Repeat("y", 300))
	_ = s.WriteHeaders(h2.HeadersFrameParam{StreamID: 1, BlockFragment: b[:3], PadLength: 9, Priority: h2.PriorityParam{StreamDep: 7, Weight: 3}})
	_ = s.WriteContinuation(1, true, b[3:])
	_ = s.WriteDataPadded(1, false, []byte("hello"), make([]byte, 7))
	s.data(1, false, 0)
	trailer := s.fields("x-trailer", "z")
	_ = s.WriteHeaders(h2.HeadersFrameParam{StreamID: 1, BlockFragment: trailer, EndStream: true, EndHeaders: true})
	total := int64(s.out.Len() - before)
	var text [3]strings.Builder
	c.Observer = func(ref uint64, part Part, b []byte) { fmt.Fprintf(&text[part], "%d|%s", ref, b) }
	if err := c.Feed(s.out.Bytes(), &recorder{}); err != nil {
		t.Fatal(err)
	}
	interim := len(newServer().fields(status, "103"))
	want := Reply{Status: 200, Informational: 1, HeaderBytes: int64(len(b) + interim), BodyBytes: 5, TrailerBytes: int64(len(trailer)),
		FramingBytes: 6*frameHeaderLen + 1 + 5 + 9 + 1 + 7}
	if c.reply != want {
		t.Errorf("reply %+v, want %+v", c.reply, want)
	}
	if sum := c.reply.HeaderBytes + c.reply.BodyBytes + c.reply.TrailerBytes + c.reply.FramingBytes; sum != total {
		t.Errorf("counts add up to %d, want %d", sum, total)
	}
	for part, want := range []string{
		Header:  "1|:status: 103\r\n\r\n1|:status: 200\r\nx: " + strings.Repeat("y", 300) + "\r\n\r\n",
		Body:    "1|hello",
		Trailer: "1|x-trailer: z\r\n\r\n",
	} {
		if got := text[part].String(); got != want {
			t.Errorf("observer saw of part %d: %q, want %q", part, got, want)
		}
	}
}

// TestStreamTable opens and closes streams in many orders and looks all up.
func TestStreamTable(t *testing.T) {
	t.Parallel()
	var table streamTable
	open := map[uint32]*stream{}
	state, next := uint32(1), uint32(1)
	for range 20000 {
		state = state*1664525 + 1013904223 // any order that is the same each time
		if len(open) < int(state>>24)%60 {
			open[next] = table.add(next)
			next += 2 * (1 + state>>20&7)
			continue
		}
		for id := next - min(next, 2*(state>>16&0xff)); id < next; id++ {
			if s := open[id]; s != nil {
				table.remove(s)
				delete(open, id)
				break
			}
		}
		if table.open != len(open) {
			t.Fatalf("%d streams are open, want %d", table.open, len(open))
		}
		for id, s := range open {
			if got := table.find(id); got != s || s.id != id {
				t.Fatalf("find(%d) = %v, want %v", id, got, s)
			}
		}
	}
}
