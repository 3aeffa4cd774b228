package push

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	minBackoff = 100 * time.Millisecond // before the first retry
	maxBackoff = 5 * time.Second        // between two retries
	maxRetries = 10                     // of a batch; about half a minute

	maxRetryAfter = time.Hour // of what a receiver asks for
	maxReply      = 64 << 10  // bytes read of a reply's body
	maxShown      = 512       // bytes shown of it
)

// A transport gives requests our credentials, and makes replies harmless.
type transport struct {
	base    http.RoundTripper
	to      *url.URL // where all requests go, nil leaves theirs
	header  http.Header
	secrets secrets
}

// newClient returns a client that sends by base. It does not follow redirects:
// header fields that hold credentials would go along to another host.
func newClient(t *transport, timeout time.Duration) *http.Client {
	return &http.Client{
		Transport:     t,
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// newBase returns a transport for one receiver.
func newBase() *http.Transport {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.Proxy = nil
	base.MaxResponseHeaderBytes = maxReply
	return base
}

// RoundTrip sends a request. The reply's body is in memory, empty if it is a
// success; its Retry-After is a whole number of seconds from 0 on, if there is
// one.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	maps.Copy(req.Header, t.header)
	if t.to != nil {
		to := *t.to
		req.URL = &to
	}
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	// A body that breaks off still has a status that counts.
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	resp.Body.Close()
	switch {
	case resp.StatusCode/100 == 2:
		body = nil
	case resp.StatusCode/100 == 3:
		body = []byte("(redirects are not followed)")
	case t.secrets.in(string(body)):
		body = []byte("(not shown, it quotes the credentials)")
	default:
		body = bytes.TrimSpace(body[:min(len(body), maxShown)])
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	resp.Status = fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	if after := resp.Header.Get("Retry-After"); after != "" {
		resp.Header.Set("Retry-After", strconv.Itoa(int(retryAfter(after)/time.Second)))
	}
	return resp, nil
}

// CloseIdleConnections lets go of what is open.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// show returns an error whose text can be printed: without secrets and control
// characters. What it wraps might show them, so that the chain ends here.
func (t *transport) show(what string, err error) error {
	text := err.Error()
	if t.secrets.in(text) {
		return fmt.Errorf("push: %s failed, the cause is not shown because it quotes the credentials", what)
	}
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	return errors.New("push: " + what + ": " + text)
}

// retryAfter returns how long a Retry-After asks to wait, within bounds: 0 if
// it cannot be read.
func retryAfter(s string) time.Duration {
	var after time.Duration
	if seconds, err := strconv.ParseUint(s, 10, 31); err == nil {
		after = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(s); err == nil {
		after = time.Until(at).Round(time.Second)
	}
	return min(max(after, 0), maxRetryAfter)
}

// pause waits, and returns an error if ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
