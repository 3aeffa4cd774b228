package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"httpgen/internal/target"
)

// listening returns the addresses at which a process listens.
func listening(t *testing.T, pid int) (all []netip.AddrPort) {
	t.Helper()
	fds := fmt.Sprintf("/proc/%d/fd", pid)
	own := map[string]bool{}
	for _, name := range names(t, fds) {
		// A descriptor may have been closed meanwhile.
		if link, err := os.Readlink(filepath.Join(fds, name)); err == nil {
			own[link] = true
		}
	}
	for _, table := range []string{"tcp", "tcp6"} {
		f, err := os.Open(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			fields := strings.Fields(lines.Text())
			const listen = "0A"
			if len(fields) < 10 || fields[3] != listen || !own["socket:["+fields[9]+"]"] {
				continue
			}
			all = append(all, parseSocket(t, fields[1]))
		}
	}
	return all
}

// parseSocket reads an address as the kernel's tables have it: words of the
// machine's byte order, which is little-endian.
func parseSocket(t *testing.T, text string) netip.AddrPort {
	t.Helper()
	ip, port, _ := strings.Cut(text, ":")
	b, err := hex.DecodeString(ip + port)
	if err != nil || len(b) != 6 && len(b) != 18 {
		t.Fatalf("%q is no address", text)
	}
	n := len(b) - 2
	for word := range slices.Chunk(b[:n], 4) {
		slices.Reverse(word)
	}
	addr, _ := netip.AddrFromSlice(b[:n])
	return netip.AddrPortFrom(addr.Unmap(), uint16(b[n])<<8|uint16(b[n+1]))
}

// Nothing listens unless it was asked for, and then on this machine alone unless
// that was asked for too.
func TestListeners(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{})
	// Nothing is ever pushed there.
	to := fmt.Sprintf("remote-write=http://127.0.0.1:%d/", refusing(t))
	for _, tt := range []struct {
		name string
		args []string
		want string // of all addresses, a regular expression
		warn bool
	}{
		{"none", nil, `^\[\]$`, false},
		{"pushed", []string{"--push", to}, `^\[\]$`, false},
		{"no host", []string{"--web.listen-address", ":0"}, `^\[127\.0\.0\.1:\d+( \[::1\]:\d+)?\]$`, false},
		{"two", []string{"--web.listen-address", "127.0.0.1:0", "--web.listen-address", "127.0.0.2:0"}, `^\[127\.0\.0\.1:\d+ 127\.0\.0\.2:\d+\]$`, false},
		{"any", []string{"--web.listen-address", "0.0.0.0:0"}, `^\[0\.0\.0\.0:\d+\]$`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := inBackground(t, append([]string{s.URL(), "--rate", "100", "--window", "0.1", "--timeout", "20"}, tt.args...)...)
			var warned bool
			for {
				line, err := b.stderr.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				warned = warned || strings.Contains(line, "warning: metrics: anyone who reaches ")
				if strings.Contains(line, "offered") {
					break
				}
			}
			have := listening(t, b.Process.Pid)
			slices.SortFunc(have, netip.AddrPort.Compare)
			if !regexp.MustCompile(tt.want).MatchString(fmt.Sprint(have)) || warned != tt.warn {
				t.Errorf("listens at %v, warned %v; want %s, %v", have, warned, tt.want, tt.warn)
			}
			b.signal(t, syscall.SIGINT)
			b.result(t)
			if code, said := b.end(t); code != signalCode(syscall.SIGINT) {
				t.Errorf("exit code %d, want %d: %s", code, signalCode(syscall.SIGINT), said)
			}
		})
	}
}

// An address in use is an error, and the run does not start.
func TestListenerInUse(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := serverFor(t, target.Options{})
	code, stdout, stderr := finish(t, append([]string{"httpgen", s.URL(), "--web.listen-address", l.Addr().String()}, load...)...)
	if code != exitInternal || stdout != "" || !strings.Contains(stderr, "address already in use") {
		t.Errorf("exit code %d, %q; want %d and the reason:\n%s", code, stdout, exitInternal, stderr)
	}
	if n := s.Stats().Accepted; n != 0 {
		t.Errorf("%d connections, want none", n)
	}
}

// The web configuration holds for the metrics of a run: who does not give the
// password, or does not speak TLS, sees nothing.
func TestListenerPasswords(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{})
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	dir := inFolder(t, map[string]string{
		"web.yml": fmt.Sprintf("tls_server_config: {cert_file: server.pem, key_file: server.pem}\nbasic_auth_users: {me: %q}\n", hash),
	})
	pemFile(t, filepath.Join(dir, "server.pem"))
	b := inBackground(t, append([]string{
		s.URL(), "--web.listen-address", "127.0.0.1:0", "--web.config.file", filepath.Join(dir, "web.yml"), "--web.telemetry-path", "/run", "--metrics-linger", "scrape",
	}, load...)...)
	address := b.endpoint(t)
	r := b.result(t)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for _, tt := range []struct {
		name, scheme, user, password, path string
		want                               int
	}{
		{"in the clear", "http", "me", "secret", "/run", http.StatusBadRequest},
		{"nobody", "https", "", "", "/run", http.StatusUnauthorized},
		{"wrong password", "https", "me", "public", "/run", http.StatusUnauthorized},
		{"wrong user", "https", "you", "secret", "/run", http.StatusUnauthorized},
		{"landing page", "https", "", "", "/", http.StatusUnauthorized},
		{"other path", "https", "me", "secret", "/metrics", http.StatusNotFound},
		{"right", "https", "me", "secret", "/run", http.StatusOK},
	} {
		req, err := http.NewRequest("GET", tt.scheme+"://"+address+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tt.user != "" {
			req.SetBasicAuth(tt.user, tt.password)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if shows := bytes.Contains(text, []byte("httpgen_")); resp.StatusCode != tt.want || shows != (tt.want == http.StatusOK) {
			t.Errorf("%s: status %d, metrics shown: %v; want %d", tt.name, resp.StatusCode, shows, tt.want)
		}
	}
	// The last one was the scrape that the process stayed for.
	if code, said := b.end(t); code != resultCode(r, nil) {
		t.Errorf("exit code %d, want %d: %s", code, resultCode(r, nil), said)
	}
}
