package push

import (
	"fmt"
	"strings"
)

// A LossError says what did not reach the receiver, or was not acknowledged by
// it.
type LossError struct {
	Intervals uint64 // that were gathered and given up
	Totals    bool   // the last one, which has the final values, is among them
	Ends      bool   // the ends of the series are not marked
	Err       error  // the first failure, nil if the receiver was only too slow
}

// Error tells all of it.
func (e *LossError) Error() string {
	var lost []string
	if e.Totals {
		lost = append(lost, "the final values")
	}
	switch {
	case e.Intervals == 1 && !e.Totals:
		lost = append(lost, "1 interval")
	case e.Intervals > 1:
		lost = append(lost, fmt.Sprintf("%d intervals in all", e.Intervals))
	}
	if e.Ends {
		lost = append(lost, "the marks that end the series")
	}
	text := "push: lost " + strings.Join(lost, ", ")
	if !e.Totals {
		text += "; the final values arrived"
	}
	if e.Err != nil {
		text += "; the first failure: " + strings.TrimPrefix(e.Err.Error(), "push: ")
	}
	return text
}
