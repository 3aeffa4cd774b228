package metrics

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// newServer returns a Server that does not listen yet, and is closed in the end.
func newServer(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// start returns a Server at a free port of 127.0.0.1, and its address.
func start(t *testing.T, o Options) (*Server, string) {
	t.Helper()
	o.Listen = []string{"127.0.0.1:0"}
	s := newServer(t, o)
	addrs, err := s.Start()
	if err != nil {
		t.Fatal(err)
	}
	return s, addrs[0]
}

// newClient returns a client that trusts what c says, and leaves no connection.
func newClient(t *testing.T, c *tls.Config) *http.Client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: c, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// do sends a request, which change may alter first, and returns the reply with
// its whole body.
func do(t *testing.T, c *http.Client, method, url string, change func(r *http.Request)) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	reply, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply, string(body)
}

// get gets a page that is there.
func get(t *testing.T, c *http.Client, url string) string {
	t.Helper()
	reply, body := do(t, c, "GET", url, nil)
	if reply.StatusCode != 200 {
		t.Fatalf("GET %s: status %d, want 200; %s", url, reply.StatusCode, body)
	}
	return body
}

// write writes a file into a directory and returns its name.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// A keyPair is a certificate that signed itself, and its key.
type keyPair struct{ cert, key string } // PEM

// newKeyPair returns one for 127.0.0.1 and the name, for servers and clients.
func newKeyPair(t *testing.T, name string) keyPair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:   time.Unix(0, 0), NotAfter: time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return keyPair{
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})),
	}
}

// trust returns the configuration of a client that trusts only the pairs given.
func trust(pairs ...keyPair) *tls.Config {
	pool := x509.NewCertPool()
	for _, p := range pairs {
		pool.AppendCertsFromPEM([]byte(p.cert))
	}
	return &tls.Config{RootCAs: pool}
}

// tlsFiles writes a web configuration for TLS with p, and what it names.
func tlsFiles(t *testing.T, p keyPair, more ...string) (config string) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "cert.pem", p.cert)
	write(t, dir, "key.pem", p.key)
	return write(t, dir, "web.yml", "tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\n"+strings.Join(more, ""))
}

// pipes is a listener whose connections are made in memory, so that time may be
// a test's own.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	err    error // of Accept after Close
}

func newPipes(err error) *pipes {
	return &pipes{conns: make(chan net.Conn), closed: make(chan struct{}), err: err}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, p.err
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9900} }

// dial returns a connection, and what is closed when the server closes its end.
func (p *pipes) dial() (net.Conn, <-chan struct{}) {
	ours, theirs := net.Pipe()
	end := &pipeEnd{Conn: theirs, closed: make(chan struct{})}
	p.conns <- end
	return ours, end.closed
}

// A pipeEnd tells when it is closed.
type pipeEnd struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

func (e *pipeEnd) Close() error {
	e.once.Do(func() { close(e.closed) })
	return e.Conn.Close()
}
