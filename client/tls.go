package client

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
)

// A tlsSetup makes TLS connections to one target. Goroutines share it.
type tlsSetup struct {
	config *tls.Config
	http2  bool // the server has to agree to it

	mu       sync.Mutex
	accepted [sha256.Size]byte // chain that was verified last
}

// newTLSSetup returns nil for a stream in the clear.
func newTLSSetup(s *Stream, to *Target) *tlsSetup {
	if s.TLS == nil {
		return nil
	}
	t := &tlsSetup{config: s.TLS.Clone()}
	t.config.ServerName = cmp.Or(to.Name, t.config.ServerName)
	if t.http2 = s.HTTP2; t.http2 {
		t.config.NextProtos = []string{"h2"}
	}
	if !t.config.InsecureSkipVerify {
		// A server shows the same chain every time: it is verified once, by the
		// rules of crypto/tls, and compared from then on.
		t.config.InsecureSkipVerify = true
		t.config.VerifyConnection = t.verify
	}
	return t
}

// verify checks the peer's chain and name as crypto/tls does.
func (t *tlsSetup) verify(cs tls.ConnectionState) error {
	if len(cs.PeerCertificates) == 0 {
		return errors.New("no certificate")
	}
	h := sha256.New()
	for _, c := range cs.PeerCertificates {
		h.Write(c.Raw)
	}
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	t.mu.Lock()
	known := sum == t.accepted
	t.mu.Unlock()
	if known {
		return nil
	}
	o := x509.VerifyOptions{Roots: t.config.RootCAs, DNSName: t.config.ServerName, Intermediates: x509.NewCertPool()}
	if t.config.Time != nil {
		o.CurrentTime = t.config.Time()
	}
	for _, c := range cs.PeerCertificates[1:] {
		o.Intermediates.AddCert(c)
	}
	if _, err := cs.PeerCertificates[0].Verify(o); err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	t.mu.Lock()
	t.accepted = sum
	t.mu.Unlock()
	return nil
}

// errNoHTTP2 says that a server did not agree to HTTP/2 (ALPN, RFC 7301).
var errNoHTTP2 = errors.New("the server does not speak HTTP/2")

// handshake makes a TLS connection of c.
func (t *tlsSetup) handshake(ctx context.Context, c net.Conn) (net.Conn, error) {
	tc := tls.Client(c, t.config)
	if err := tc.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	if t.http2 && tc.ConnectionState().NegotiatedProtocol != "h2" {
		return nil, errNoHTTP2
	}
	return tc, nil
}

// TLSFailures counts the connections that TLS ended, by reason: in the handshake,
// or later when the peer's alert comes late. The reasons are unknown_authority,
// name_mismatch, expired, certificate (anything else that is wrong with it),
// alert_NAME (the peer's, such as alert_handshake_failure), not_tls, closed (the
// peer hung up during the handshake), no_http2 (it did not agree to it) and other. A map without entries is nil.
type TLSFailures struct {
	Main, Warmup map[string]uint64
}

// count adds a failure.
func (f *TLSFailures) count(warmup bool, reason string) {
	m := &f.Main
	if warmup {
		m = &f.Warmup
	}
	if *m == nil {
		*m = map[string]uint64{}
	}
	(*m)[reason]++
}

// tlsFailed counts a connection of a stream that TLS ended. All loops call it.
func (c *Client) tlsFailed(stream int, warmup bool, reason string) {
	c.tlsMu.Lock()
	defer c.tlsMu.Unlock()
	c.tlsFailures[stream].count(warmup, reason)
}

// tlsReason names what an error of TLS comes from.
func tlsReason(err error) string {
	var (
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
		remote    *net.OpError
		header    tls.RecordHeaderError
	)
	switch {
	case errors.Is(err, errNoHTTP2):
		return "no_http2"
	case errors.As(err, &authority):
		return "unknown_authority"
	case errors.As(err, &name):
		return "name_mismatch"
	case errors.As(err, &invalid):
		if invalid.Reason == x509.Expired {
			return "expired"
		}
		return "certificate"
	case errors.As(err, &remote) && remote.Op == "remote error":
		return alertReason(remote.Err.Error())
	case errors.As(err, &header):
		return "not_tls"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "closed"
	}
	return "other"
}

// alertReason makes a reason of what crypto/tls says of an alert, whose type it
// keeps to itself: "tls: handshake failure", or "tls: alert(200)" for an alert
// that has no name.
func alertReason(text string) string {
	text = strings.TrimPrefix(text, "tls: ")
	if n, ok := strings.CutPrefix(text, "alert("); ok {
		text = strings.TrimSuffix(n, ")")
	}
	return "alert_" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(text))
}
