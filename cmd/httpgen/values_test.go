package main

import (
	"crypto/tls"
	"encoding"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"httpgen/client"
	"httpgen/internal/target"
	"httpgen/pacer"
)

// valueTest reads text into a new value of a flag's type.
type valueTest struct {
	text string
	want any // nil for an error
}

func testValues[T any, P interface {
	*T
	encoding.TextUnmarshaler
}](t *testing.T, name string, show func(T) any, tests []valueTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(name+"/"+tt.text, func(t *testing.T) {
			t.Parallel()
			var v T
			err := P(&v).UnmarshalText([]byte(tt.text))
			if (err != nil) != (tt.want == nil) {
				t.Fatalf("error %v, value %v; want %v", err, v, tt.want)
			}
			if err == nil && !reflect.DeepEqual(show(v), tt.want) {
				t.Errorf("have %v (%T), want %v (%T)", show(v), show(v), tt.want, tt.want)
			}
		})
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	durations := []valueTest{
		{"5s", 5 * time.Second}, {"250ms", 250 * time.Millisecond}, {"1m30s", 90 * time.Second},
		{"2d", 2 * day}, {"1.5d", 36 * time.Hour}, {"1d12h", 36 * time.Hour},
		{"5", 5 * time.Second}, {"1.5", 1500 * time.Millisecond}, {".5", 500 * time.Millisecond},
		{"0.1", 100 * time.Millisecond}, {"0.000000001", time.Nanosecond}, {"9223372036", 9223372036 * time.Second},
		{"", nil}, {"-1", nil}, {"-1s", nil}, {"-1d", nil}, {"1d-1h", nil}, {"d", nil}, {"1d1", nil}, {"5x", nil}, {"s", nil},
		{"1e3", nil}, {"NaN", nil}, {"1/2", nil}, {".", nil}, {"1.2.3", nil}, {"9223372037", nil}, {"200000d", nil}, {"106751d24h", nil}, {"1e400", nil},
	}
	testValues(t, "duration", func(d duration) any { return time.Duration(d) }, append(durations, valueTest{"0", time.Duration(0)}))
	testValues(t, "span", func(d span) any { return time.Duration(d) }, append(durations, valueTest{"0", nil}, valueTest{"0s", nil}))
	testValues(t, "count", func(n count) any { return int(n) }, []valueTest{
		{"1", 1}, {"500", 500}, {"20k", 20000}, {"1.5k", 1500}, {"2M", 2000000}, {"2147483647", 2147483647},
		{"", nil}, {"0", nil}, {"-1", nil}, {"1.5", nil}, {"k", nil}, {"2m", nil}, {"2147483648", nil}, {"0x10", nil}, {"1e3", nil}, {"5 ", nil},
	})
	testValues(t, "total", func(n total) any { return uint64(n) }, []valueTest{
		{"20000", uint64(20000)}, {"5000M", uint64(5e9)}, {"1000000000000000000", uint64(1e18)}, {"1000000000000000001", nil}, {"0", nil}, {"-1", nil},
	})
	testValues(t, "room", func(n room) any { return int(n) }, []valueTest{{"0", 0}, {"1k", 1000}, {"-1", nil}})
	testValues(t, "size", func(n size) any { return int(n) }, []valueTest{
		{"0", 0}, {"4096", 4096}, {"4096B", 4096}, {"64KiB", 65536}, {"64k", 64000}, {"64kB", 64000}, {"1MB", 1000000}, {"1MiB", 1 << 20}, {"0.5KiB", 512},
		{"", nil}, {"-1", nil}, {"2000MB", nil}, {"KiB", nil}, {"1.5", nil}, {"5GB", nil},
	})
	testValues(t, "seed", func(n seed) any { return uint64(n) }, []valueTest{{"0", uint64(0)}, {"18446744073709551615", uint64(1<<64 - 1)}, {"-1", nil}, {"x", nil}})
	testValues(t, "port", func(n port) any { return int(n) }, []valueTest{{"1", 1}, {"65535", 65535}, {"0", nil}, {"65536", nil}, {"-1", nil}, {"http", nil}})
	testValues(t, "rate", func(r rate) any { return r.pace }, []valueTest{
		{"2000", pace{"2000", pacer.Constant{N: 2000, Per: time.Second}}},
		{"0", pace{"0", nil}},
		{"poisson:500", pace{"poisson:500", pacer.Poisson{N: 500, Per: time.Second}}},
		{"-1", nil}, {"max", nil}, {"", nil},
	})
	testValues(t, "period", func(p period) any { return p.pace }, []valueTest{
		{"0.5", pace{"0.5", pacer.Constant{N: 1, Per: 500 * time.Millisecond}}},
		{"0", pace{"0", nil}},
		{"u0.005,0.015", pace{"u0.005,0.015", pacer.Uniform{Min: 5 * time.Millisecond, Max: 15 * time.Millisecond}}},
		{"-1", nil}, {"u2,1", nil},
	})
	testValues(t, "fleet", func(f fleet) any { return f }, []valueTest{
		{"0/1", fleet{0, 1}}, {"1/2", fleet{1, 2}}, {"2/2", nil}, {"-1/2", nil}, {"1", nil}, {"0/0", nil}, {"a/b", nil}, {"", nil},
	})
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	testValues(t, "instant", func(i instant) any { return i.when(now).UTC() }, []valueTest{
		{"2030-01-02T15:04:05Z", time.Date(2030, 1, 2, 15, 4, 5, 0, time.UTC)},
		{"2030-01-02T15:04:05.5+01:00", time.Date(2030, 1, 2, 14, 4, 5, 5e8, time.UTC)},
		{"@1893456000", time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"@1893456000.25", time.Date(2030, 1, 1, 0, 0, 0, 25e7, time.UTC)},
		{"+10s", now.Add(10 * time.Second)}, {"+10", now.Add(10 * time.Second)},
		{"", nil}, {"+", nil}, {"+-5", nil}, {"@", nil}, {"@soon", nil}, {"15:04", nil}, {"10s", nil},
	})
	testValues(t, "spin", func(s spin) any { return time.Duration(s) }, []valueTest{
		{"auto", time.Duration(0)}, {"none", time.Duration(-1)}, {"0", time.Duration(-1)}, {"100us", 100 * time.Microsecond}, {"-1s", nil}, {"some", nil},
	})
	testValues(t, "header", func(h header) any { return h }, []valueTest{
		{"Accept: a, b", header{"Accept", "a, b"}}, {"X:y", header{"X", "y"}}, {"X:", header{"X", ""}},
		{"X", nil}, {": y", nil}, {"", nil}, {"X: y\r\nZ: w", nil}, {"X: y\n", nil},
	})
	testValues(t, "add-header", func(a addedHeader) any { return a.fields }, []valueTest{
		{`X: y\nZ: w\n`, []client.Header{{Name: "X", Value: "y"}, {Name: "Z", Value: "w"}}},
		{`X: y`, []client.Header{{Name: "X", Value: "y"}}},
		{`X: \101\n`, []client.Header{{Name: "X", Value: "A"}}},
		{`X`, nil}, {`X: y\q`, nil}, {`X: y\`, nil},
	})
	testValues(t, "http-version", func(v httpVersion) any { return string(v) }, []valueTest{{"1.0", "1.0"}, {"1.1", "1.1"}, {"2", nil}, {"", nil}})
	testValues(t, "expect-status", func(s statusSet) any { return s.Has(204) && !s.Has(404) }, []valueTest{{"2xx,304", true}, {"200", false}, {"", nil}, {"20", nil}})
	testValues(t, "catch-up", func(c catchUp) any { return c.String() }, []valueTest{{"2x", "2x"}, {"burst", "burst"}, {"drop=10ms", "drop=10ms"}, {"1x", nil}})
	testValues(t, "output", func(o output) any { return o }, []valueTest{
		{"json", output{"json", ""}}, {"json=a=b", output{"json", "a=b"}}, {"ndjson", output{"ndjson", ""}}, {"html", nil}, {"json=", nil}, {"", nil},
	})
	testValues(t, "service-time", func(s service) any { return s.Service }, []valueTest{
		{"10ms", target.Constant(10 * time.Millisecond)}, {"exp:10ms", target.Exponential(10 * time.Millisecond)}, {"fast", nil},
	})
	testValues(t, "freeze", func(f freeze) any { return f }, []valueTest{{"1s@2s", freeze{Length: time.Second, At: 2 * time.Second}}, {"1s", nil}})
	testValues(t, "tls version", func(v tlsVersion) any { return v.number() }, []valueTest{
		{"auto", uint16(0)}, {"TLSv1", uint16(tls.VersionTLS10)}, {"TLSv1.0", uint16(tls.VersionTLS10)}, {"tlsv1.1", uint16(tls.VersionTLS11)},
		{"TLSv1.2", uint16(tls.VersionTLS12)}, {"1.2", uint16(tls.VersionTLS12)}, {"TLSv1.3", uint16(tls.VersionTLS13)}, {"1.3", uint16(tls.VersionTLS13)},
		{"", nil}, {"SSLv2", nil}, {"SSLv3", nil}, {"sslv3", nil}, {"2", nil}, {"3", nil}, {"1.4", nil}, {"TLS", nil}, {"all", nil},
	})
	testValues(t, "wset", func(w workingSet) any { return w }, []valueTest{
		{"10,0", workingSet{N: 10}}, {"1,1", workingSet{N: 1, Step: 1}}, {"1000000,0.25", workingSet{N: 1e6, Step: .25}}, {"1M,.1", workingSet{N: 1e6, Step: .1}},
		{"", nil}, {"10", nil}, {"10,", nil}, {",1", nil}, {"0,1", nil}, {"1000001,1", nil}, {"-1,1", nil}, {"1.5,1", nil}, {"10,1.000001", nil}, {"10,-1", nil}, {"10,NaN", nil}, {"10,1,1", nil},
	})
	testValues(t, "overload", func(o overload) any { return o.Overload }, []valueTest{{"reset", target.Reset}, {"accept", target.AcceptLate}, {"x", nil}})
}

func TestBody(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(file, []byte("a\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	given := func(b body) any { return b }
	testValues(t, "data", given, []valueTest{
		{"a,b", body{[]byte("a,b"), true}}, {"", body{[]byte{}, true}}, {"@" + file, body{[]byte("a\nb\n"), true}},
		{"@-", nil}, {"@", nil}, {"@" + file + "x", nil},
	})
	testValues(t, "data-file", func(b bodyFile) any { return b }, []valueTest{{file, bodyFile{[]byte("a\nb\n"), true}}, {"-", nil}, {"", nil}})
}

func TestURIList(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, tt := range []struct {
		name, content string
		want          []string // nil for an error
	}{
		{"lines", "/a\n/b\n", []string{"/a", "/b"}},
		{"no end of the last line", "/a\n/b", []string{"/a", "/b"}},
		{"blank lines", "\n/a\n\n \t\n/b\n\n", []string{"/a", "/b"}},
		{"lines of other systems", "/a\r\n\r\n/b\r\n", []string{"/a", "/b"}},
		{"NULs", "/a\x00/b\x00", []string{"/a", "/b"}},
		{"one NUL", "/a\x00", []string{"/a"}},
		{"NULs and a last line end", "/a\x00/b\x00\n", []string{"/a", "/b"}},
		{"a line end within NULs", "/a\n/b\x00/c\x00", []string{"/a\n/b", "/c"}},
		{"the same again", "/a\n/a\n", []string{"/a", "/a"}},
		{"empty", "", nil},
		{"blank", "\n\n", nil},
		{"only NULs", "\x00\x00", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(dir, tt.name)
			if err := os.WriteFile(file, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			var l uriList
			err := l.UnmarshalText([]byte("n," + file))
			if (err != nil) != (tt.want == nil) || err != nil && !strings.Contains(err.Error(), file) {
				t.Fatalf("error %v; want one with the file: %v", err, tt.want == nil)
			}
			if !slices.Equal(l.uris, tt.want) {
				t.Errorf("have %q, want %q", l.uris, tt.want)
			}
		})
	}
}

// The value is optional, so it is kong that gives it.
func TestVerify(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args string
		want verify
	}{
		{"", verify{}},
		{"--ssl-verify", verify{given: true}},
		{"--ssl-verify=yes", verify{given: true}},
		{"--ssl-verify=YES", verify{given: true}},
		{"--ssl-verify=no", verify{given: true, no: true}},
		{"--ssl-verify=0", verify{given: true, no: true}},
		{"--ssl-verify=no --ssl-verify", verify{given: true}},
		{"--ssl-verify --rate 5", verify{given: true}},
	} {
		t.Run(tt.args, func(t *testing.T) {
			t.Parallel()
			g, _ := parsed(t, append([]string{"httpgen"}, strings.Fields(tt.args)...)...)
			if g.Run.SSLVerify != tt.want {
				t.Errorf("have %+v, want %+v", g.Run.SSLVerify, tt.want)
			}
		})
	}
}

// The warning of --add-header reaches the user.
func TestAddHeaderWarning(t *testing.T) {
	t.Parallel()
	var a addedHeader
	if err := a.UnmarshalText([]byte("X: y")); err != nil || len(a.warnings) != 1 {
		t.Errorf("error %v, warnings %q; want one warning", err, a.warnings)
	}
}
