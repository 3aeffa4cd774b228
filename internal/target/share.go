package target

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

const (
	maxWeight     = 1_000_000
	defaultWeight = 1  // of a source without a share
	defaultQueue  = 32 // requests that each source may have waiting
)

// A Share is the weight of one source of requests.
type Share struct {
	Source netip.Addr // the client's address
	Weight int        // 1 to 1000000
}

// String returns s in the form that ParseShares reads.
func (s Share) String() string { return s.Source.String() + "=" + strconv.Itoa(s.Weight) }

// ParseShares reads ADDRESS=WEIGHT,ADDRESS=WEIGHT, as in
// "127.0.0.2=1,127.0.0.3=3".
func ParseShares(s string) ([]Share, error) {
	var all []Share
	for text := range strings.SplitSeq(s, ",") {
		source, weight, _ := strings.Cut(text, "=")
		ip, err := netip.ParseAddr(source)
		n, err2 := strconv.Atoi(weight)
		if err != nil || err2 != nil {
			return nil, fmt.Errorf(`target: shares %q: %q: want ADDRESS=WEIGHT,…, such as "127.0.0.2=1,127.0.0.3=3"`, s, text)
		}
		all = append(all, Share{Source: ip.Unmap(), Weight: n})
	}
	return all, validateShares(all)
}

func validateShares(all []Share) error {
	seen := make(map[netip.Addr]bool, len(all))
	for _, s := range all {
		switch {
		case !s.Source.IsValid() || s.Source.Is4In6() || s.Source.Zone() != "":
			return fmt.Errorf("target: share %v: want an IPv4 or IPv6 address without a zone", s)
		case s.Weight < 1 || s.Weight > maxWeight:
			return fmt.Errorf("target: share %v: want a weight of 1 to %d", s, maxWeight)
		case seen[s.Source]:
			return fmt.Errorf("target: share %v: the source has one already, want one for each", s)
		}
		seen[s.Source] = true
	}
	return nil
}

// A Due is what a source can count on while every source of Options.Shares,
// and no other, asks for more than its share.
type Due struct {
	Share
	Part      float64       // of the server's capacity, 0 to 1
	PerSecond float64       // services
	Wait      time.Duration // how long the last request of its full queue waits: a client that gives up before loses what it queues
}

// dues returns what the sources of o.Shares are due, in their order.
func (o *Options) dues() []Due {
	capacity := o.Capacity
	if o.Workers > 0 {
		capacity = float64(o.Workers) / o.Service.mean.Seconds()
	}
	worst := capacity
	if o.Collapse.Kept > 0 {
		worst *= o.Collapse.Kept
	}
	sum := 0
	for _, s := range o.Shares {
		sum += s.Weight
	}
	all := make([]Due, 0, len(o.Shares))
	for _, s := range o.Shares {
		part := float64(s.Weight) / float64(sum)
		wait := float64(o.Queue) / (part * worst) * float64(time.Second)
		all = append(all, Due{
			Share:     s,
			Part:      part,
			PerSecond: part * capacity,
			Wait:      time.Duration(min(wait, float64(never))),
		})
	}
	return all
}
