package report

// Totals counts what happened to a set of arrivals. When all is well
//
//	arrivals.scheduled = arrivals.started + sum(arrivals.shed)
//	arrivals.started   = completed + errors.total + unfinished
//	calls.planned      = calls.replied + calls.unanswered + calls.unsent + calls.unfinished
type Totals struct {
	Arrivals    Arrivals          `json:"arrivals"`    // what the schedule asked for
	Completed   uint64            `json:"completed"`   // arrivals that ended well
	Unfinished  uint64            `json:"unfinished"`  // arrivals still open when the drain ended
	LostCalls   uint64            `json:"lost_calls"`  // calls that an arrival could not make any more
	Retries     uint64            `json:"retries"`     // repeated attempts that were asked for
	Calls       Calls             `json:"calls"`       // calls of the started arrivals
	Connections Connections       `json:"connections"` // connections opened for them
	Requests    uint64            `json:"requests"`    // requests sent to the last byte
	Replies     uint64            `json:"replies"`     // replies received to the last byte
	Status      Status            `json:"status"`      // replies by class of their status
	Codes       map[string]uint64 `json:"codes"`       // replies by status, only those seen
	Errors      Errors            `json:"errors"`      // failed arrivals by reason
	Bytes       Bytes             `json:"bytes"`       // what went over the wire

	TLSFailures map[string]uint64 `json:"tls_failures,omitempty"` // connections that TLS ended by reason, such as "unknown_authority"; only those seen
}

// Arrivals counts the intended starts.
type Arrivals struct {
	Scheduled   uint64 `json:"scheduled"`    // due
	Started     uint64 `json:"started"`      // begun
	StartedLate uint64 `json:"started_late"` // begun, but taken later than 1 ms plus one period after they were due
	Shed        Shed   `json:"shed"`         // deliberately not begun
}

// Calls counts the calls of started arrivals by how they ended.
type Calls struct {
	Planned    uint64 `json:"planned"`    // all of them
	Replied    uint64 `json:"replied"`    // reply complete
	Unanswered uint64 `json:"unanswered"` // request sent, no complete reply
	Unsent     uint64 `json:"unsent"`     // request not sent to the last byte
	Unfinished uint64 `json:"unfinished"` // open when the drain ended
}

// Connections counts the connections of a run.
type Connections struct {
	Attempted   uint64 `json:"attempted"`   // connect() calls
	Established uint64 `json:"established"` // connected, the TLS handshake included
	Failed      uint64 `json:"failed"`      // not connected, those later retried included
	PeakOpen    uint64 `json:"peak_open"`   // most that were open or opening at once
	MaxBurst    uint64 `json:"max_burst"`   // most connect() calls in one pass of a loop
}

// Bytes counts what went over the wire, in bytes.
type Bytes struct {
	Sent     uint64 `json:"sent"`     // written, unfinished requests included
	Received uint64 `json:"received"` // read, unfinished replies included
	Request  uint64 `json:"request"`  // of requests sent to the last byte
	Header   uint64 `json:"header"`   // status lines and header fields of complete replies
	Body     uint64 `json:"body"`     // bodies of complete replies, without chunk framing
	Trailer  uint64 `json:"trailer"`  // trailers of complete replies with the empty line that ends them
	Framing  uint64 `json:"framing"`  // chunk sizes and chunk line ends of complete replies
}
