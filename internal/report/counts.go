package report

// A count is one entry of an object with a fixed set of keys.
type count struct {
	name string // JSON key
	n    *uint64
}

// add raises the count of that name by n and reports whether there is one.
func add(counts []count, name string, n uint64) bool {
	for _, c := range counts {
		if c.name == name {
			*c.n += n
			return true
		}
	}
	return false
}

func sum(counts []count) uint64 {
	var total uint64
	for _, c := range counts {
		total += *c.n
	}
	return total
}

// Shed counts arrivals that were due and deliberately not started, by cause.
type Shed struct {
	Inflight uint64 `json:"inflight"` // too many were open
	Backlog  uint64 `json:"backlog"`  // too many waited for a pooled connection
	Late     uint64 `json:"late"`     // later than catch-up allows, or owed after the planned end
	Stopped  uint64 `json:"stopped"`  // the run was stopped before they could start
}

// Add raises the count of a cause, named by its JSON key, by n. It reports
// whether there is such a cause.
func (s *Shed) Add(cause string, n uint64) bool { return add(s.counts(), cause, n) }

// Total returns the sum over all causes.
func (s *Shed) Total() uint64 { return sum(s.counts()) }

func (s *Shed) counts() []count {
	return []count{
		{"inflight", &s.Inflight},
		{"backlog", &s.Backlog},
		{"late", &s.Late},
		{"stopped", &s.Stopped},
	}
}

// Status counts replies by the class of their status.
type Status struct {
	Class1 uint64 `json:"1xx"`
	Class2 uint64 `json:"2xx"`
	Class3 uint64 `json:"3xx"`
	Class4 uint64 `json:"4xx"`
	Class5 uint64 `json:"5xx"`
	Other  uint64 `json:"other"` // below 100 or above 599
}

// Add counts n replies with a status such as 200.
func (s *Status) Add(code int, n uint64) {
	class := &s.Other
	if code >= 100 && code <= 599 {
		class = s.counts()[code/100-1].n
	}
	*class += n
}

func (s *Status) counts() []count {
	return []count{
		{"1xx", &s.Class1},
		{"2xx", &s.Class2},
		{"3xx", &s.Class3},
		{"4xx", &s.Class4},
		{"5xx", &s.Class5},
		{"other", &s.Other},
	}
}

// Errors counts failed arrivals by reason. Total is their sum; Add keeps it so.
type Errors struct {
	Total              uint64 `json:"total"`
	ConnectTimeout     uint64 `json:"connect_timeout"`     // not established in time
	SendTimeout        uint64 `json:"send_timeout"`        // request not sent in time
	ReplyTimeout       uint64 `json:"reply_timeout"`       // reply not complete in time
	Deadline           uint64 `json:"deadline"`            // not complete in time since the intended start
	SocketTimeout      uint64 `json:"socket_timeout"`      // ETIMEDOUT
	ConnectRefused     uint64 `json:"connect_refused"`     // ECONNREFUSED, or a full backlog of a Unix socket
	Reset              uint64 `json:"reset"`               // ECONNRESET or EPIPE
	ClosedEarly        uint64 `json:"closed_early"`        // end of stream before the reply was complete
	FDUnavailable      uint64 `json:"fd_unavailable"`      // EMFILE: the process has no descriptor left
	FileTableFull      uint64 `json:"file_table_full"`     // ENFILE: the system has none left
	AddressUnavailable uint64 `json:"address_unavailable"` // no free local port
	TLS                uint64 `json:"tls"`                 // handshake or record failure
	Protocol           uint64 `json:"protocol"`            // the reply was not HTTP
	UnexpectedStatus   uint64 `json:"unexpected_status"`   // a complete reply with a status that counts as failure
	DNS                uint64 `json:"dns"`                 // the name could not be resolved
	Unreachable        uint64 `json:"unreachable"`         // no route to the host or network
	H2Goaway           uint64 `json:"h2_goaway"`           // HTTP/2 connection given up by the server
	H2Refused          uint64 `json:"h2_refused"`          // h2 stream refused by the server
	H2Reset            uint64 `json:"h2_reset"`            // h2 stream reset by the server
	Other              uint64 `json:"other"`               // none of these
}

// Add raises the count of a reason, named by its JSON key, and Total by n. It
// reports whether there is such a reason; "total" is none.
func (e *Errors) Add(reason string, n uint64) bool {
	if !add(e.counts(), reason, n) {
		return false
	}
	e.Total += n
	return true
}

// counts returns the reasons in the order of the JSON, without the total.
func (e *Errors) counts() []count {
	return []count{
		{"connect_timeout", &e.ConnectTimeout},
		{"send_timeout", &e.SendTimeout},
		{"reply_timeout", &e.ReplyTimeout},
		{"deadline", &e.Deadline},
		{"socket_timeout", &e.SocketTimeout},
		{"connect_refused", &e.ConnectRefused},
		{"reset", &e.Reset},
		{"closed_early", &e.ClosedEarly},
		{"fd_unavailable", &e.FDUnavailable},
		{"file_table_full", &e.FileTableFull},
		{"address_unavailable", &e.AddressUnavailable},
		{"tls", &e.TLS},
		{"protocol", &e.Protocol},
		{"unexpected_status", &e.UnexpectedStatus},
		{"dns", &e.DNS},
		{"unreachable", &e.Unreachable},
		{"h2_goaway", &e.H2Goaway},
		{"h2_refused", &e.H2Refused},
		{"h2_reset", &e.H2Reset},
		{"other", &e.Other},
	}
}
