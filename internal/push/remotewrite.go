package push

import (
	"context"
	"net/http"
	"net/url"

	"github.com/prometheus/client_golang/exp/api/remote"
	dto "github.com/prometheus/client_model/go"
)

// A remoteWrite sends by remote write, version 1.
type remoteWrite struct {
	api     *remote.API
	encoder *encoder
}

func newRemoteWrite(to *url.URL, client *http.Client, labels []label, native bool) (*remoteWrite, error) {
	// A query may hold a token, and errors show the URL. The transport puts the
	// whole one into its place again.
	shown := *to
	shown.RawQuery = ""
	api, err := remote.NewAPI(shown.String(), remote.WithAPIPath(""), remote.WithAPIHTTPClient(client),
		remote.WithAPIBackoff(remote.BackoffConfig{Min: minBackoff, Max: maxBackoff, MaxRetries: maxRetries}))
	if err != nil {
		return nil, err
	}
	return &remoteWrite{api: api, encoder: newEncoder(labels, native)}, nil
}

func (r *remoteWrite) encode(families []*dto.MetricFamily, at int64) (batch, error) {
	message, samples, err := r.encoder.encode(families, at)
	return batch{message: message, samples: samples}, err
}

func (r *remoteWrite) end() batch { return batch{message: r.encoder.end()} }

func (r *remoteWrite) send(ctx context.Context, b batch, failed func(error)) error {
	_, err := r.api.Write(ctx, remote.WriteV1MessageType, encoded(b.message), remote.WithWriteRetryCallback(failed))
	return err
}

// An encoded message is one that needs no more than to be copied.
type encoded []byte

// Size returns the length in bytes.
func (e encoded) Size() int { return len(e) }

// MarshalToSizedBuffer copies the message into b, which is as long.
func (e encoded) MarshalToSizedBuffer(b []byte) (int, error) { return copy(b, e), nil }
