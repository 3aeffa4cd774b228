package accesslog

import (
	"testing"
	"time"
)

func TestStamp(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in       string
		want     string // RFC 3339 in UTC; empty for no time
		fraction bool
	}{
		{"10/Oct/2000:13:55:36 -0700", "2000-10-10T20:55:36Z", false},
		{"31/Dec/1999:23:59:59 +0000", "1999-12-31T23:59:59Z", false},
		{"29/Feb/2024:00:00:00 +0545", "2024-02-28T18:15:00Z", false},
		{"31/Dec/2016:23:59:60 +0000", "2017-01-01T00:00:00Z", false},
		{"01/Jan/1970:00:00:00 +2359", "1969-12-31T00:01:00Z", false},
		{"10/Oct/2000:13:55:36.123 -0700", "2000-10-10T20:55:36.123Z", true},
		{"10/Oct/2000:13:55:36.000000001 +0000", "2000-10-10T13:55:36.000000001Z", true},
		{"1700000000.123", "2023-11-14T22:13:20.123Z", true},
		{"1700000000.000", "2023-11-14T22:13:20Z", true},
		{"1700000000", "2023-11-14T22:13:20Z", false},
		{"0", "1970-01-01T00:00:00Z", false},
		{"9214646399.999999999", "2261-12-31T23:59:59.999999999Z", true},
		{"9214646400", "", false},
		{"99999999999999999999", "", false},
		{"", "", false},
		{".5", "", false},
		{"5.", "", false},
		{"-5", "", false},
		{"1.1234567890", "", false},
		{"1.x", "", false},
		{"30/Feb/2024:00:00:00 +0000", "", false},
		{"00/Jan/2024:00:00:00 +0000", "", false},
		{"01/jan/2024:00:00:00 +0000", "", false},
		{"01/Jan/1969:00:00:00 +0000", "", false},
		{"01/Jan/2262:00:00:00 +0000", "", false},
		{"01/Jan/2024:24:00:00 +0000", "", false},
		{"01/Jan/2024:00:60:00 +0000", "", false},
		{"01/Jan/2024:00:00:61 +0000", "", false},
		{"01/Jan/2024:00:00:00", "", false},
		{"01/Jan/2024:00:00:00 UTC", "", false},
		{"01/Jan/2024:00:00:00 +2400", "", false},
		{"01/Jan/2024:00:00:00 +0060", "", false},
		{"01/Jan/2024:00:00:00. +0000", "", false},
		{"01/Jan/2024:00:00 +0000", "", false},
		{"1 /Jan/2024:00:00:00 +0000", "", false},
	} {
		got, fraction, ok := stamp([]byte(tt.in))
		text := ""
		if ok {
			text = time.Unix(0, got).UTC().Format(time.RFC3339Nano)
		}
		if text != tt.want || ok && fraction != tt.fraction {
			t.Errorf("stamp(%q) = %q, fraction %t, want %q, %t", tt.in, text, fraction, tt.want, tt.fraction)
		}
	}
	if got := time.Date(2262, time.January, 1, 0, 0, 0, 0, time.UTC).Unix(); got != maxSeconds {
		t.Errorf("2262 begins at %d, maxSeconds is %d", got, maxSeconds)
	}
}
