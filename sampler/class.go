package sampler

// Class says how an arrival or a call ended. The zero value is success.
type Class uint8

// The outcomes. String gives the key that every output uses.
const (
	OK                 Class = iota // complete, and as expected
	ConnectTimeout                  // not connected in time (TLS handshake included)
	SendTimeout                     // the request could not be sent in time
	ReplyTimeout                    // no complete reply in time after the last request byte
	Deadline                        // not complete in time after the intended start
	SocketTimeout                   // the kernel gave up (ETIMEDOUT)
	ConnectRefused                  // the peer refused the connection
	Reset                           // the peer reset the connection
	ClosedEarly                     // end of stream before the reply was complete
	FDUnavailable                   // this process is out of descriptors (EMFILE)
	FileTableFull                   // the system is out of descriptors (ENFILE)
	AddressUnavailable              // no free local port or address: the client is the limit
	TLS                             // the TLS handshake failed
	Protocol                        // the reply was not valid HTTP
	UnexpectedStatus                // a complete reply with another status than asked for
	DNS                             // the name could not be resolved
	Unreachable                     // no route to the host or network
	H2Goaway                        // the h2 peer closed the connection with GOAWAY
	H2Refused                       // the h2 peer refused the stream
	H2Reset                         // the h2 peer reset the stream
	Other                           // anything else
	NumClasses         = iota
)

var classNames = [NumClasses]string{
	"ok", "connect_timeout", "send_timeout", "reply_timeout", "deadline", "socket_timeout", "connect_refused",
	"reset", "closed_early", "fd_unavailable", "file_table_full", "address_unavailable", "tls", "protocol",
	"unexpected_status", "dns", "unreachable", "h2_goaway", "h2_refused", "h2_reset", "other",
}

// String returns the key of c in results, such as "connect_timeout".
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "other"
}

// Cause says why an arrival that was due was deliberately not started.
type Cause uint8

// The causes of shedding.
const (
	ShedInflight Cause = iota // the bound of arrivals in flight was reached
	ShedBacklog               // the queue for a pooled connection was full
	ShedLate                  // later than the catch-up policy or the end of the run allows
	ShedStopped               // the run was stopped before it could start
	NumCauses    = iota
)

var causeNames = [NumCauses]string{"inflight", "backlog", "late", "stopped"}

// String returns the key of c in results.
func (c Cause) String() string { return causeNames[c] }
