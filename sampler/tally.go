package sampler

import "fmt"

// A Tally holds exact counts of one stream or of a whole run.
type Tally struct {
	Scheduled   uint64             // arrivals whose intended start lies in the run
	Started     uint64             // arrivals started
	StartedLate uint64             // of them, taken more than 1 ms and one period after the intended start
	Behind      uint64             // of them, those that stood behind others of the same instant for more than 10 ms
	Shed        [NumCauses]uint64  // arrivals due and deliberately not started
	Outcomes    [NumClasses]uint64 // arrivals ended, by outcome; [OK] are the completed ones
	Unfinished  uint64             // arrivals still open when the drain ended
	LostCalls   uint64             // calls that ended arrivals could not make or got no reply to
	Retries     uint64             // further tries: the next address of a name, a retry asked for

	Planned         uint64 // calls of started arrivals
	Replied         uint64 // calls with a complete reply
	Unanswered      uint64 // calls sent whose reply never was complete
	Unsent          uint64 // calls never sent
	UnfinishedCalls uint64 // calls of unfinished arrivals without a reply

	Attempted   uint64 // connections on which connect() was called
	Established uint64
	Failed      uint64 // connections that ended before they were established

	SessionConns uint64 // connections established for sessions that ended well

	Requests uint64       // requests whose last byte the kernel took
	Replies  uint64       // complete replies
	Interim  uint64       // 1xx replies before a final one
	Codes    [1000]uint64 // complete replies by status code

	SentBytes     uint64 // all bytes the kernel took
	ReceivedBytes uint64 // all bytes read
	RequestBytes  uint64 // of completely sent requests
	HeaderBytes   uint64 // of complete replies: status line and header section, interim replies included
	BodyBytes     uint64 // of complete replies, after de-chunking
	TrailerBytes  uint64 // of complete replies: trailer section with its final line end
	FramingBytes  uint64 // of complete replies: chunk sizes and line ends
}

// Completed returns the arrivals that ended well.
func (t *Tally) Completed() uint64 { return t.Outcomes[OK] }

// Errors returns the arrivals that ended otherwise.
func (t *Tally) Errors() uint64 { return sum(t.Outcomes[OK+1:]) }

// ShedTotal returns the arrivals shed, whatever the cause.
func (t *Tally) ShedTotal() uint64 { return sum(t.Shed[:]) }

// Status returns the complete replies whose code starts with digit 1 to 5;
// digit 0 stands for all others. Interim replies count under 1.
func (t *Tally) Status(digit int) uint64 {
	if digit < 1 || digit > 5 {
		return sum(t.Codes[:100]) + sum(t.Codes[600:])
	}
	n := sum(t.Codes[digit*100 : digit*100+100])
	if digit == 1 {
		n += t.Interim
	}
	return n
}

func sum(v []uint64) (n uint64) {
	for _, x := range v {
		n += x
	}
	return n
}

// Merge adds all counts of from to t.
func (t *Tally) Merge(from *Tally) {
	t.Scheduled += from.Scheduled
	t.Started += from.Started
	t.StartedLate += from.StartedLate
	t.Behind += from.Behind
	for i, n := range from.Shed {
		t.Shed[i] += n
	}
	for i, n := range from.Outcomes {
		t.Outcomes[i] += n
	}
	t.Unfinished += from.Unfinished
	t.LostCalls += from.LostCalls
	t.Retries += from.Retries
	t.Planned += from.Planned
	t.Replied += from.Replied
	t.Unanswered += from.Unanswered
	t.Unsent += from.Unsent
	t.UnfinishedCalls += from.UnfinishedCalls
	t.Attempted += from.Attempted
	t.Established += from.Established
	t.Failed += from.Failed
	t.SessionConns += from.SessionConns
	t.Requests += from.Requests
	t.Replies += from.Replies
	t.Interim += from.Interim
	for i, n := range from.Codes {
		t.Codes[i] += n
	}
	t.SentBytes += from.SentBytes
	t.ReceivedBytes += from.ReceivedBytes
	t.RequestBytes += from.RequestBytes
	t.HeaderBytes += from.HeaderBytes
	t.BodyBytes += from.BodyBytes
	t.TrailerBytes += from.TrailerBytes
	t.FramingBytes += from.FramingBytes
}

// Check returns a sentence for each accounting identity that does not hold.
// They hold after a run has ended; a mismatch is a bug of the program.
func (t *Tally) Check() []string {
	var bad []string
	for _, c := range []struct {
		name       string
		have, want uint64
	}{
		{"scheduled = started + shed", t.Scheduled, t.Started + t.ShedTotal()},
		{"started = completed + errors + unfinished", t.Started, sum(t.Outcomes[:]) + t.Unfinished},
		{"calls planned = replied + unanswered + unsent + unfinished", t.Planned, t.Replied + t.Unanswered + t.Unsent + t.UnfinishedCalls},
		{"calls replied = replies", t.Replied, t.Replies},
		{"replies = sum of codes", t.Replies, sum(t.Codes[:])},
	} {
		if c.have != c.want {
			bad = append(bad, fmt.Sprintf("%s: %d is not %d", c.name, c.have, c.want))
		}
	}
	return bad
}
