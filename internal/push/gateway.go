package push

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/push"
	dto "github.com/prometheus/client_model/go"
)

// A gateway sends to a Pushgateway. Our labels are its grouping key.
type gateway struct {
	to     string
	client *http.Client
	job    string
	labels []label // without job
}

func newGateway(to *url.URL, client *http.Client, labels []label) *gateway {
	g := &gateway{to: to.String(), client: client}
	for _, l := range labels {
		if l.name == "job" {
			g.job = l.value
		} else {
			g.labels = append(g.labels, l)
		}
	}
	return g
}

// encode copies what was gathered, as a Pushgateway accepts it: without
// timestamps, and without labels of the grouping key. One that says the same is
// left out, and another is renamed as Prometheus does when it scrapes.
func (g *gateway) encode(families []*dto.MetricFamily, _ int64) (batch, error) {
	b := batch{families: make([]*dto.MetricFamily, 0, len(families))}
	for _, f := range families {
		c := &dto.MetricFamily{Name: f.Name, Help: f.Help, Type: f.Type, Unit: f.Unit}
		for _, m := range f.GetMetric() {
			c.Metric = append(c.Metric, &dto.Metric{
				Label: g.relabel(m.GetLabel()), Gauge: m.GetGauge(), Counter: m.GetCounter(),
				Summary: m.GetSummary(), Untyped: m.GetUntyped(), Histogram: m.GetHistogram(),
			})
		}
		b.families = append(b.families, c)
		b.samples += uint64(len(c.Metric))
	}
	return b, nil
}

func (g *gateway) relabel(pairs []*dto.LabelPair) []*dto.LabelPair {
	out := make([]*dto.LabelPair, 0, len(pairs))
	for _, p := range pairs {
		switch value, grouped := g.grouping(p.GetName()); {
		case !grouped:
			out = append(out, p)
		case value != p.GetValue():
			out = append(out, &dto.LabelPair{Name: new("exported_" + p.GetName()), Value: p.Value})
		}
	}
	return out
}

// grouping returns a label of the grouping key.
func (g *gateway) grouping(name string) (value string, ok bool) {
	if name == "job" {
		return g.job, true
	}
	i := slices.IndexFunc(g.labels, func(l label) bool { return l.name == name })
	if i < 0 {
		return "", false
	}
	return g.labels[i].value, true
}

// end returns nothing: a Pushgateway keeps the last values until they are
// deleted.
func (g *gateway) end() batch { return batch{} }

// send tries again as remote write does.
func (g *gateway) send(ctx context.Context, b batch, failed func(error)) error {
	for retry, backoff := 0, minBackoff; ; retry, backoff = retry+1, min(2*backoff, maxBackoff) {
		reply := &lastReply{client: g.client}
		p := push.New(g.to, g.job).Client(reply).Gatherer(prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) { return b.families, nil }))
		for _, l := range g.labels {
			p.Grouping(l.name, l.value)
		}
		err := p.AddContext(ctx)
		if err == nil || !reply.temporary || retry == maxRetries || ctx.Err() != nil {
			return err
		}
		failed(err)
		if err := pause(ctx, max(backoff, reply.after)); err != nil {
			return err
		}
	}
}

// A lastReply is a client that notes how its request ended.
type lastReply struct {
	client    *http.Client
	temporary bool          // it failed and may succeed another time
	after     time.Duration // what the receiver asks to wait
}

// Do sends a request.
func (l *lastReply) Do(req *http.Request) (*http.Response, error) {
	resp, err := l.client.Do(req)
	l.temporary = err != nil || resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode/100 == 5
	if err == nil {
		l.after = retryAfter(resp.Header.Get("Retry-After"))
	}
	return resp, err
}
