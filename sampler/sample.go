package sampler

import "time"

// All instants are offsets from the start of the run.

// A Sample is one call with a complete reply.
type Sample struct {
	Stream    int  // index of the stream
	Warmup    bool // its arrival was intended during the warm-up
	Status    int  // 100 to 999
	Interim   int  // 1xx replies before the final one
	Judged    bool // Good says whether the reply was as expected; else all are
	Good      bool
	Intended  time.Duration // when the schedule wanted it, or when its predecessor ended plus think time
	Started   time.Duration // just before connect(), or before the send where the connection was open
	Sent      time.Duration // the kernel took the last request byte
	FirstByte time.Duration // first byte of the reply read
	Done      time.Duration // reply complete
	Header    int64         // bytes
	Body      int64         // bytes
	Trailer   int64         // bytes
	Framing   int64         // bytes
}

// A Conn is one connection that has ended.
type Conn struct {
	Stream      int
	Warmup      bool
	Opened      time.Duration // just before connect()
	Ended       time.Duration
	Established bool
	Replies     int
	Unfinished  bool // still connecting when the run ended: neither established nor failed
}

// An Arrival is one started arrival that has ended, or that was still open when
// the drain ended.
type Arrival struct {
	Stream     int
	Warmup     bool
	Index      uint64 // of the schedule
	Intended   time.Duration
	Started    time.Duration
	Ended      time.Duration
	Outcome    Class
	Unfinished bool // Outcome does not count
	Planned    int  // calls
	Replied    int
	Unanswered int // sent, without a complete reply
	Unsent     int
	Retries    int
	Session    bool // it counts among the sessions too
	Conns      int  // connections that were established for it
}
