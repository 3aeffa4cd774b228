package experiment

import "httpgen/internal/report"

// A Failure is a reason for which arrivals failed, and on whose side that was.
type Failure struct {
	Side   string `json:"side"`   // "target", "generator" or "network": where the limit was
	Reason string `json:"reason"` // as in results, such as "reset"
	Count  uint64 `json:"count"`  // arrivals
}

// Sides of failures. A timeout is the target's: the generator keeps its own
// lateness apart, and what it sheds is no failure.
const (
	targetSide    = "target"
	generatorSide = "generator"
	networkSide   = "network"
)

// failures adds up why arrivals failed, reasons without any left out.
func failures(results []*report.Result) []Failure {
	var e report.Errors
	var unfinished, shed uint64
	for _, r := range results {
		unfinished += r.Totals.Unfinished
		shed += r.Totals.Arrivals.Shed.Total()
		addErrors(&e, &r.Totals.Errors)
	}
	all := []Failure{}
	for _, f := range append(reasons(&e),
		Failure{targetSide, "unfinished", unfinished}, Failure{generatorSide, "shed", shed}) {
		if f.Count > 0 {
			all = append(all, f)
		}
	}
	return all
}

func addErrors(into, e *report.Errors) {
	for _, f := range reasons(e) {
		into.Add(f.Reason, f.Count)
	}
}

// reasons lists the counts of all reasons.
func reasons(e *report.Errors) []Failure {
	return []Failure{
		{targetSide, "connect_timeout", e.ConnectTimeout},
		{targetSide, "send_timeout", e.SendTimeout},
		{targetSide, "reply_timeout", e.ReplyTimeout},
		{targetSide, "deadline", e.Deadline},
		{targetSide, "connect_refused", e.ConnectRefused},
		{targetSide, "reset", e.Reset},
		{targetSide, "closed_early", e.ClosedEarly},
		{targetSide, "tls", e.TLS},
		{targetSide, "protocol", e.Protocol},
		{targetSide, "unexpected_status", e.UnexpectedStatus},
		{targetSide, "h2_goaway", e.H2Goaway},
		{targetSide, "h2_refused", e.H2Refused},
		{targetSide, "h2_reset", e.H2Reset},
		{targetSide, "other", e.Other},
		{networkSide, "socket_timeout", e.SocketTimeout},
		{networkSide, "dns", e.DNS},
		{networkSide, "unreachable", e.Unreachable},
		{generatorSide, "fd_unavailable", e.FDUnavailable},
		{generatorSide, "file_table_full", e.FileTableFull},
		{generatorSide, "address_unavailable", e.AddressUnavailable},
	}
}
