package metrics

import (
	"net"
	"strings"
	"testing"
)

func TestOptions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := newKeyPair(t, "a"), newKeyPair(t, "b")
	write(t, dir, "a.pem", a.cert)
	write(t, dir, "b.key", b.key)
	file := func(name, text string) string { return write(t, dir, name, text) }
	for _, tt := range []struct {
		name string
		o    Options
		want string // in the error
	}{
		{"address", Options{Listen: []string{":0", "http://x"}}, `metrics: address "http://x": want host:port`},
		{"path", Options{Path: "metrics"}, `metrics: path "metrics": want one such as /metrics`},
		{"path of the landing page", Options{Path: "/"}, `path "/"`},
		{"path below ours", Options{Path: "/-/healthy"}, `path "/-/healthy"`},
		{"path that is not clean", Options{Path: "/a/../b"}, `path "/a/../b"`},
		{"path with a wildcard", Options{Path: "/{x}"}, `path "/{x}"`},
		{"path with markup", Options{Path: `/">`}, `path "/\">"`},
		{"path with a blank", Options{Path: "/a /b"}, `path "/a /b"`},
		{"version", Options{Version: "\xff"}, `version "\xff"`},
		{"no file", Options{ConfigFile: dir + "/absent"}, `/absent": open `},
		{"no YAML", Options{ConfigFile: file("yaml", "{")}, `metrics: web configuration "` + dir + `/yaml": yaml:`},
		{"unknown field", Options{ConfigFile: file("field", "tls: {}\n")}, "field tls not found"},
		{"no certificate", Options{ConfigFile: file("none", "tls_server_config: {cert_file: nope.pem, key_file: b.key}\n")}, "failed to read cert_file (" + dir + "/nope.pem)"},
		{"no key", Options{ConfigFile: file("half", "tls_server_config: {cert_file: a.pem}\n")}, "missing one of key or key_file"},
		{"other key", Options{ConfigFile: file("other", "tls_server_config: {cert_file: a.pem, key_file: b.key}\n")}, "private key does not match public key"},
		{"password in the clear", Options{ConfigFile: file("users", "basic_auth_users: {a: secret}\n")}, "hashedSecret too short"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := New(tt.o)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New(%+v) = %v, %v, want an error with %q", tt.o, s, err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret\"") {
				t.Errorf("%v: shows the password", err)
			}
		})
	}
}

func TestParseAddress(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		host string
		port uint16
		bad  bool
	}{
		{"9900", "", 9900, false},
		{":9900", "", 9900, false},
		{"0", "", 0, false},
		{"127.0.0.1:1", "127.0.0.1", 1, false},
		{"0.0.0.0:65535", "0.0.0.0", 65535, false},
		{"[::1]:9900", "::1", 9900, false},
		{"[fe80::1%eth0]:9900", "fe80::1%eth0", 9900, false},
		{"host.example:9900", "host.example", 9900, false},
		{"", "", 0, true},
		{":", "", 0, true},
		{"65536", "", 0, true},
		{"-1", "", 0, true},
		{"+1", "", 0, true},
		{"host", "", 0, true},
		{"host:", "", 0, true},
		{"host:http", "", 0, true},
		{"::1", "", 0, true},
		{"::1:9900", "", 0, true},
		{"http://127.0.0.1:9900", "", 0, true},
		{"127.0.0.1:9900/metrics", "", 0, true},
		{"a,b:9900", "", 0, true},
		{"vsock://:9900", "", 0, true},
	} {
		a, err := parseAddress(tt.text)
		if (err != nil) != tt.bad || a.host != tt.host || a.port != tt.port {
			t.Errorf("parseAddress(%q) = %+v, %v, want host %q, port %d, an error: %v", tt.text, a, err, tt.host, tt.port, tt.bad)
		}
	}
}

func FuzzParseAddress(f *testing.F) {
	for _, text := range []string{"9900", ":9900", "[::1]:9900", "host:1", "[]:1", "[a:1", "\x00:1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := parseAddress(text)
		if err != nil {
			return
		}
		// What was read means the same when it is written out.
		written := net.JoinHostPort(a.host, "1")
		if again, err := parseAddress(written); err != nil || again.host != a.host {
			t.Errorf("parseAddress(%q) = %+v, but %q is %+v, %v", text, a, written, again, err)
		}
	})
}
