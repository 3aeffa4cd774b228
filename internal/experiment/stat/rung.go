package stat

// Outcome is what one trial, or all trials of one rung, say of the objective.
type Outcome uint8

// The outcomes. A trial is met, missed or invalid; a rung may be any.
const (
	Met              Outcome = iota
	Missed                   // the target missed the objective
	Mixed                    // some trials of the rung met it and some missed it
	Invalid                  // the generator was the limit while the target had not yet missed
	GeneratorLimited         // three trials in a row were invalid
)

// String returns the word of the contract.
func (o Outcome) String() string {
	return [...]string{"met", "missed", "mixed", "invalid", "generator_limited"}[o]
}

// attempts is how often in a row a trial may be invalid: it is repeated twice.
const attempts = 3

// A Rung is one rate that was tried.
type Rung struct {
	Rate                 float64 // arrivals per second, or connections
	Met, Missed, Invalid int     // trials of each outcome, confirming ones included
	Confirmed            bool    // the confirming trial was made and valid

	row int // invalid trials since the last valid one
}

// Outcome says what the trials of the rung say together. Invalid trials do not
// count against the target: with none but them, and fewer than three in a row,
// the rung is Invalid, which is to say not yet known.
func (r Rung) Outcome() Outcome {
	switch {
	case r.row >= attempts:
		return GeneratorLimited
	case r.Met > 0 && r.Missed > 0:
		return Mixed
	case r.Missed > 0:
		return Missed
	case r.Met > 0:
		return Met
	}
	return Invalid
}

// observe counts one trial.
func (r *Rung) observe(o Outcome, confirm bool) {
	switch o {
	case Met:
		r.Met++
	case Missed:
		r.Missed++
	default:
		r.Invalid++
		r.row++
		return
	}
	r.row = 0
	r.Confirmed = r.Confirmed || confirm
}
