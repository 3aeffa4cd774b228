package sampler

import "testing"

func TestClassString(t *testing.T) {
	t.Parallel()
	seen := map[string]Class{}
	for c := Class(0); c < NumClasses; c++ {
		s := c.String()
		if old, ok := seen[s]; ok || s == "" {
			t.Errorf("class %d is called %q, as class %d is", c, s, old)
		}
		seen[s] = c
	}
	for _, tt := range []struct {
		class Class
		want  string
	}{
		{OK, "ok"}, {ConnectTimeout, "connect_timeout"}, {ClosedEarly, "closed_early"},
		{AddressUnavailable, "address_unavailable"}, {UnexpectedStatus, "unexpected_status"},
		{H2Reset, "h2_reset"}, {Other, "other"}, {NumClasses, "other"}, {255, "other"},
	} {
		if got := tt.class.String(); got != tt.want {
			t.Errorf("Class(%d) = %q, want %q", tt.class, got, tt.want)
		}
	}
}

func TestCauseString(t *testing.T) {
	t.Parallel()
	for c, want := range map[Cause]string{ShedInflight: "inflight", ShedBacklog: "backlog", ShedLate: "late", ShedStopped: "stopped"} {
		if got := c.String(); got != want {
			t.Errorf("Cause(%d) = %q, want %q", c, got, want)
		}
	}
}
