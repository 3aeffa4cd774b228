package run

import (
	"fmt"
	"strconv"
	"strings"
)

// A StatusSet is a set of status codes.
type StatusSet [1000]bool

// ParseStatusSet reads a list such as "200", "2xx,304" or "200-299,404".
func ParseStatusSet(s string) (*StatusSet, error) {
	var set StatusSet
	for _, item := range strings.Split(s, ",") {
		item = strings.TrimSpace(item)
		low, high, isRange := strings.Cut(item, "-")
		if len(item) == 3 && strings.HasSuffix(strings.ToLower(item), "xx") {
			low, high, isRange = item[:1]+"00", item[:1]+"99", true
		}
		if !isRange {
			high = low
		}
		a, err1 := strconv.Atoi(low)
		b, err2 := strconv.Atoi(high)
		if err1 != nil || err2 != nil || a < 100 || b > 999 || a > b {
			return nil, fmt.Errorf("status %q: want codes of 100 to 999 such as 200, 2xx or 200-299, separated by commas", item)
		}
		for i := a; i <= b; i++ {
			set[i] = true
		}
	}
	return &set, nil
}

// Has says whether the set holds a status code.
func (s *StatusSet) Has(status int) bool { return status >= 0 && status < len(s) && s[status] }

// String returns the set as ParseStatusSet reads it, such as "200-299,304".
func (s *StatusSet) String() string {
	var items []string
	for a := 0; a < len(s); a++ {
		if !s[a] {
			continue
		}
		b := a
		for b+1 < len(s) && s[b+1] {
			b++
		}
		if a == b {
			items = append(items, strconv.Itoa(a))
		} else {
			items = append(items, fmt.Sprintf("%d-%d", a, b))
		}
		a = b
	}
	return strings.Join(items, ",")
}
