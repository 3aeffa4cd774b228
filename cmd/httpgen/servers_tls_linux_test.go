package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// nginxTLSHead begins a configuration of nginx that logs how TLS was spoken.
const nginxTLSHead = `
daemon off; worker_processes 1; pid @dir@/nginx.pid; error_log stderr notice;
events { worker_connections 2000; }
http {
	client_body_temp_path @dir@/body; proxy_temp_path @dir@/proxy; fastcgi_temp_path @dir@/fastcgi;
	uwsgi_temp_path @dir@/uwsgi; scgi_temp_path @dir@/scgi;
	log_format counts escape=json '{"agent":"$http_user_agent","method":"$request_method","uri":"$request_uri","protocol":"$server_protocol",'
		'"status":"$status","connection":$connection,"host":"$http_host","length":$request_length,"sent":$bytes_sent,'
		'"tls":"$ssl_protocol","cipher":"$ssl_cipher","name":"$ssl_server_name","reused":"$ssl_session_reused"}';
	access_log @dir@/access.log counts;
`

// nginxTLSConf has a port for each set of versions, one that wants a certificate
// of the client, and one in the clear. @certs@ is replaced before.
const nginxTLSConf = nginxTLSHead + `	default_type text/plain; gzip off; keepalive_requests 100000; root @dir@/www;
	ssl_certificate @certs@/server.pem; ssl_certificate_key @certs@/server.pem;
	ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache shared:sessions:1m;
	server {
		listen 127.0.0.1:@both@ ssl backlog=4096;
		location = /three { keepalive_requests 3; alias @dir@/www/page; }
		location = /hangup { return 444; }
		location = /chunked { ssi on; ssi_types *; alias @dir@/www/page; }
	}
	server { listen 127.0.0.1:@older@ ssl; ssl_protocols TLSv1.2; }
	server { listen 127.0.0.1:@newer@ ssl; ssl_protocols TLSv1.3; }
	server { listen 127.0.0.1:@mutual@ ssl; ssl_client_certificate @certs@/client.pem; ssl_verify_client on; }
	server { listen 127.0.0.1:@clear@; }
}
`

// pemFile writes a self-signed certificate and its key into one file.
func pemFile(t *testing.T, file string, names ...string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: filepath.Base(file)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames:    names, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// startTLS starts nginx with certificates in the folder it returns.
func startTLS(t *testing.T) (s *realServer, certs string) {
	t.Helper()
	certs = t.TempDir()
	pemFile(t, filepath.Join(certs, "server.pem"), "one.test", "two.test")
	pemFile(t, filepath.Join(certs, "client.pem"))
	pemFile(t, filepath.Join(certs, "stranger.pem"), "one.test")
	s = nginx.start(t, strings.ReplaceAll(nginxTLSConf, "@certs@", certs))
	for _, n := range []int{8000, 12000, 16000, 16384, 20000, 100000} {
		if err := os.WriteFile(filepath.Join(s.dir, "www", fmt.Sprint(n)), make([]byte, n), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return s, certs
}

// A secured run is one whose log says how TLS was spoken.
type secured struct {
	logged
	tls, cipher, server string // as logged; empty is any, "none" is none
	reused              int    // requests on resumed sessions at least; -1 is none at all
}

func TestServersTLS(t *testing.T) {
	t.Parallel()
	s, certs := startTLS(t)
	// What most runs have in common.
	run := func(port, path, args, name, want string) logged {
		if !strings.Contains(args, "://") {
			args = "https://127.0.0.1:@" + port + "@" + path + " " + args
		}
		return logged{name: name, args: args + " --cacert " + certs + "/server.pem", want: want, host: "127.0.0.1:@" + port + "@"}
	}
	named := func(r logged, host string) logged {
		r.host = host
		return r
	}
	sized := func(n int) secured {
		return secured{logged: run("both", fmt.Sprintf("/%d", n), "-r 100 -n 10 --num-calls 3", fmt.Sprintf("reply of %d", n), all(10, 3, "200", fmt.Sprintf("body %d", 30*n)))}
	}
	runs := []secured{
		{logged: run("both", "/page", "-r 300 -n 60", "one call", all(60, 1, "200", pages(60))), tls: "TLSv1.3", server: "none"},
		{logged: run("both", "/page", "-r 100 -n 30 --num-calls 4", "several calls", all(30, 4, "200", pages(120)))},
		{logged: run("both", "/page", "-r 100 -n 20 --num-calls 7 --burst-length 3", "bursts", all(20, 7, "200", pages(140)))},
		{logged: run("both", "/page", "-r 300 -n 100 -c 4", "pool", "started 100 completed 100 connections 4 requests 100 replies 100 200=100 "+pages(100))},
		{logged: run("both", "/three", "-r 300 -n 100 -c 4", "pool, closed by the server", "started 100 completed 100 connections 3[4-7] requests 100 replies 100 200=100 "+pages(100))},
		{logged: run("both", "/page", "--closed 4 -n 100", "closed model", "started 100 completed 100 connections 4 requests 100 replies 100 200=100 "+pages(100))},
		{logged: run("both", "/page", "--closed 4 -n 60 --no-keepalive", "closed model, new connections", all(60, 1, "200", pages(60))), reused: 50},
		{logged: run("both", "/three", "-r 100 -n 20 --num-calls 5", "keepalive_requests", "started 20 completed 20 connections 20 requests 60 replies 60 unsent 40 lost 40 200=60 "+pages(60))},
		{logged: run("both", "/page", "-r 100 -n 20 --num-calls 2 --workers 2", "several loops", all(20, 2, "200", pages(40)))},
		{logged: run("both", "/page", "-r 100 -n 20 --num-calls 2 --close-mode rst", "closed by reset", all(20, 2, "200", pages(40)))},
		{logged: run("both", "/page", "-r 200 -n 20 --num-calls 2 --warmup 0.05", "warm-up", all(10, 2, "200", pages(20)))},
		{logged: run("both", "/page", "-r 200 -n 20 --myaddr 127.0.2.1-127.0.2.4", "source addresses", all(20, 1, "200", pages(20)))},
		{logged: run("both", "/chunked", "-r 100 -n 20 --num-calls 3", "chunked", all(20, 3, "200", pages(60), "framing [0-9]+"))},
		{logged: run("both", "/large", "-r 20 -n 4 --num-calls 2", "large", all(4, 2, "200", large(8)))},
		{logged: run("both", "/page", "-r 100 -n 20 --num-calls 3 -X HEAD", "head", all(20, 3, "200", "body 0"))},
		{logged: run("both", "/hangup", "-r 100 -n 10", "return 444", "started 10 completed 0 connections 10 requests 10 replies 0 unanswered 10 lost 10 closed_early 10")},
		{logged: run("both", "/page", "-n 20 --ssl-protocol TLSv1.2", "1.2 asked for", all(20, 1, "200", pages(20))), tls: "TLSv1.2", reused: 19},
		{logged: run("both", "/page", "-n 20 --tls-max 1.2 --ssl-ciphers ECDHE-ECDSA-CHACHA20-POLY1305", "cipher", all(20, 1, "200", pages(20))), tls: "TLSv1.2", cipher: "ECDHE-ECDSA-CHACHA20-POLY1305"},
		{logged: run("both", "/page", "-n 20 --tls-min 1.3", "1.3 asked for", all(20, 1, "200", pages(20))), tls: "TLSv1.3", reused: 19},
		{logged: run("older", "/page", "-n 20", "1.2 alone", all(20, 1, "200", pages(20))), tls: "TLSv1.2", reused: 19},
		{logged: run("newer", "/page", "-n 20", "1.3 alone", all(20, 1, "200", pages(20))), tls: "TLSv1.3", reused: 19},
		{logged: run("older", "/page", "-n 20 --ssl-no-reuse", "1.2, full handshakes", all(20, 1, "200", pages(20))), tls: "TLSv1.2", reused: -1},
		{logged: run("newer", "/page", "-n 20 --ssl-no-reuse", "1.3, full handshakes", all(20, 1, "200", pages(20))), tls: "TLSv1.3", reused: -1},
		{logged: run("mutual", "/page", "-n 20 --num-calls 2 --cert "+certs+"/client.pem", "own certificate", all(20, 2, "200", pages(40)))},
		{logged: run("mutual", "/page", "-n 20 --num-calls 2", "no certificate", "started 20 completed 20 connections 20 requests 20 replies 20 unsent 20 lost 20 400=20")},
		{logged: named(run("both", "", "https://one.test:@both@/page --resolve one.test:@both@:127.0.0.1 -n 20", "name", all(20, 1, "200", pages(20))), "one.test:@both@"), server: "one.test"},
		{logged: run("both", "/page", "-n 20 --tls-server-name two.test", "another name", all(20, 1, "200", pages(20))), server: "two.test"},
		{logged: named(run("both", "", "https://one.test:@both@/page --resolve one.test:@both@:127.0.0.1 --server-name three.test -n 20", "host header", all(20, 1, "200", pages(20))), "three.test"), server: "one.test"},
		{logged: logged{name: "any certificate", args: "https://127.0.0.1:@both@/page -k -n 20", want: all(20, 1, "200", pages(20)), host: "127.0.0.1:@both@"}},
		{logged: logged{name: "any name", args: "https://127.0.0.1:@both@/page --ssl-verify=no --tls-server-name other.test -n 20", want: all(20, 1, "200", pages(20)), host: "127.0.0.1:@both@"}, server: "other.test"},
		{logged: logged{name: "httperf's options", args: "--server 127.0.0.1 --port @both@ --uri /page --ssl --num-conns 20 --rate 100 --ssl-ca-path " + certs, want: all(20, 1, "200", pages(20)), host: "127.0.0.1:@both@"}},
		{logged: logged{name: "http where TLS is spoken", args: "http://127.0.0.1:@both@/page -n 20", want: all(20, 1, "400"), host: "127.0.0.1:@both@"}, tls: "none"},
		sized(8000), sized(12000), sized(16000), sized(16384), sized(20000), sized(100000),
	}
	var plain []logged
	for _, r := range runs {
		plain = append(plain, r.logged)
	}
	entries := s.agree(t, plain)
	for _, tt := range runs {
		t.Run("tls/"+tt.name, func(t *testing.T) { tt.check(t, entries[tt.name]) })
	}
}

// check holds what the log says about TLS against what is wanted.
func (s *secured) check(t *testing.T, lines []entry) {
	t.Helper()
	reused := 0
	for _, e := range lines {
		if e.Reused == "r" {
			reused++
		}
		for _, c := range []struct{ name, have, want string }{{"version", e.TLS, s.tls}, {"cipher", e.Cipher, s.cipher}, {"name", e.Name, s.server}} {
			if c.want != "" && c.have != strings.TrimPrefix(c.want, "none") {
				t.Errorf("%s %q, want %q", c.name, c.have, c.want)
			}
		}
	}
	if s.reused < 0 && reused > 0 || reused < s.reused {
		t.Errorf("%d of %d requests on resumed sessions, want %d or more (none for -1)", reused, len(lines), s.reused)
	}
}

func TestServersTLSFailures(t *testing.T) {
	t.Parallel()
	s, certs := startTLS(t)
	for _, tt := range []struct {
		name, args string
		reason     string // of every connection
	}{
		{"unknown authority", "https://127.0.0.1:@both@/page", "unknown_authority"},
		{"wrong authority", "https://127.0.0.1:@both@/page --cacert " + certs + "/stranger.pem", "unknown_authority"},
		{"wrong name", "https://127.0.0.1:@both@/page --cacert " + certs + "/server.pem --tls-server-name other.test", "name_mismatch"},
		{"too old for the server", "https://127.0.0.1:@newer@/page -k --tls-max 1.2", "alert_protocol_version_not_supported"},
		{"too new for the server", "https://127.0.0.1:@older@/page -k --tls-min 1.3", "alert_protocol_version_not_supported"},
		{"no cipher in common", "https://127.0.0.1:@older@/page -k --ssl-ciphers AES128-SHA", "alert_handshake_failure"},
		{"no TLS", "https://127.0.0.1:@clear@/page -k", "not_tls"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			args := append(strings.Fields(s.fill(t, tt.args)), "-r", "200", "-n", "20", "--num-calls", "2")
			// measure wants exit code 3 of a run without a reply.
			r := measure(t, args...)
			counted(t, r, "started 20 completed 0 connections 0 requests 0 replies 0 failed connections 20 unsent 40 lost 40 tls 20")
			if want := map[string]uint64{tt.reason: 20}; !maps.Equal(r.Totals.TLSFailures, want) {
				t.Errorf("TLS failures %v, want %v", r.Totals.TLSFailures, want)
			}
		})
	}
	t.Run("text", func(t *testing.T) {
		t.Parallel()
		code, stdout, stderr := finish(t, "httpgen", "-q", s.fill(t, "https://127.0.0.1:@both@/page"), "-n", "3", "--timeout", "20")
		if code != exitSilent && code != exitInvalid || !strings.Contains(stdout, "\nFailed by reason: tls 3\nTLS failures: unknown_authority 3\n") {
			t.Errorf("exit code %d, want %d and a line of the reasons in:\n%s%s", code, exitSilent, stdout, stderr)
		}
	})
}
