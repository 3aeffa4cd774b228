package script

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestParseServers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		in   string
		want []Server
	}{
		{"one", "a", []Server{{"a", 0, 1}}},
		{"lines", "# c\n\na.example\r\n  b-1:8080 \t 3 # c\n\t#\n10.0.0.1:1 1000000\nc#c\n", []Server{{"a.example", 0, 1}, {"b-1", 8080, 3}, {"10.0.0.1", 1, 1000000}, {"c", 0, 1}}},
		{"IPv6", "::1\n[::1]\n[2001:db8::1]:65535 2\nfe80::1%eth0\n[fe80::1%eth0]:80\n::1:80", []Server{
			{"::1", 0, 1}, {"::1", 0, 1}, {"2001:db8::1", 65535, 2}, {"fe80::1%eth0", 0, 1}, {"fe80::1%eth0", 80, 1}, {"::1:80", 0, 1},
		}},
		{"NUL", "a\x00b:80 2\x00\x00::1\x00", []Server{{"a", 0, 1}, {"b", 80, 2}, {"::1", 0, 1}}},
		{"NUL and line ends", "a\x00\r\nb \n\x00\n", []Server{{"a", 0, 1}, {"b", 0, 1}}},
		{"byte order mark", "\xef\xbb\xbfa", []Server{{"a", 0, 1}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseServers("f", []byte(tt.in))
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("ParseServers(%q)\n got %+v, %v\nwant %+v", tt.in, got, err, tt.want)
			}
		})
	}
}

func TestParseServersErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		in   string
		want string
	}{
		{"empty", "", "f:1:1: no server: want HOST[:PORT] [WEIGHT] a line"},
		{"comments alone", "# a\n \n", "f:1:1: no server: want HOST[:PORT] [WEIGHT] a line"},
		{"NULs alone", "\x00\n\x00", "f:1:1: no server: want HOST[:PORT] [WEIGHT] a line"},
		{"URL", "a\n http://b/", `f:2:2: server "http://b/" with a port that is none: want a number from 1 to 65535`},
		{"no host", ":80", `f:1:1: server ":80" with a host that is no name or address: want letters, digits, dots and hyphens`},
		{"host", "a/b", `f:1:1: server "a/b" with a host that is no name or address: want letters, digits, dots and hyphens`},
		{"user information", "u:" + canary + "@a", "f:1:1: server with user information: want HOST[:PORT]"},
		{"port 0", "a:0", `f:1:1: server "a:0" with a port that is none: want a number from 1 to 65535`},
		{"port", "a:65536", `f:1:1: server "a:65536" with a port that is none: want a number from 1 to 65535`},
		{"no port", "a:", `f:1:1: server "a:" with a port that is none: want a number from 1 to 65535`},
		{"brackets", "[a]", `f:1:1: server "[a]" with a host in brackets that is no IPv6 address: want one such as [::1]`},
		{"weight 0", "a\nb  0", `f:2:4: weight "0": want a number from 1 to 1000000`},
		{"weight", "a 1000001", `f:1:3: weight "1000001": want a number from 1 to 1000000`},
		{"fraction", "a 1.5", `f:1:3: weight "1.5": want a number from 1 to 1000000`},
		{"negative", "a -1", `f:1:3: weight "-1": want a number from 1 to 1000000`},
		{"third word", "a 1 2", `f:1:3: weight "1 2": want a number from 1 to 1000000`},
		{"comment between NULs", "a\x00#b", `f:1:3: server "#b" with a host that is no name or address: want letters, digits, dots and hyphens`},
		{"line between NULs", "a\nb\x00c", `f:1:1: server "a\nb" with a host that is no name or address: want letters, digits, dots and hyphens`},
		{"after a NUL and a line end", "a\x00\n b/", `f:2:2: server "b/" with a host that is no name or address: want letters, digits, dots and hyphens`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseServers("f", []byte(tt.in))
			if got != nil {
				t.Errorf("ParseServers(%q) = %+v, want none", tt.in, got)
			}
			wantError(t, tt.in, err, tt.want)
		})
	}
}

// What was read is what is read again after it was written.
func FuzzParseServers(f *testing.F) {
	for _, s := range []string{"a\nb:80 2\n# c\n", "a\x00b:80 2\x00", "[::1]:80 3\n::1", "a:b:c", "fe80::1%x"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := ParseServers("f", in)
		if err != nil {
			checkPlaced(t, in, err)
			return
		}
		for _, separator := range []string{"\n", "\x00"} {
			var b strings.Builder
			for _, s := range got {
				if s.Host == "" || s.Port < 0 || s.Port > 65535 || s.Weight < 1 || s.Weight > maxWeight {
					t.Fatalf("%q: %+v: want a host, a port and a weight in range", in, s)
				}
				address := s.Host
				if s.Port > 0 {
					address = net.JoinHostPort(s.Host, strconv.Itoa(s.Port))
				}
				fmt.Fprintf(&b, "%s %d%s", address, s.Weight, separator)
			}
			again, err := ParseServers("f", []byte(b.String()))
			if err != nil || !slices.Equal(again, got) {
				t.Fatalf("%q: written as %q:\n got %+v, %v\nwant %+v", in, b.String(), again, err, got)
			}
		}
	})
}
