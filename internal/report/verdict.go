package report

// The values of Verdict.Status.
const (
	Valid    = "valid"
	Degraded = "degraded"
	Invalid  = "invalid"
)

// Verdict says whether the run may be believed.
type Verdict struct {
	Status  string   `json:"status"`  // Valid, Degraded or Invalid
	Reasons []Reason `json:"reasons"` // why it is not valid; empty when it is
}

// Reason is one check that was not passed.
type Reason struct {
	Code    string  `json:"code"`    // fixed name of the check, such as "lag_p99"
	Message string  `json:"message"` // the number, the limit and what to do about it, in one sentence
	Value   float64 `json:"value"`   // what was found
	Limit   float64 `json:"limit"`   // what was allowed, in the same unit
}
