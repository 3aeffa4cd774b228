package metrics

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// A clicker is a collector that says how often it was asked.
type clicker struct {
	desc *prometheus.Desc
	n    float64
}

func (c *clicker) Describe(ch chan<- *prometheus.Desc) { ch <- c.desc }

func (c *clicker) Collect(ch chan<- prometheus.Metric) {
	c.n++
	ch <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, c.n)
}

func TestCachedAsksAgainWhenNotFresh(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		one := &clicker{desc: prometheus.NewDesc("one", "Asked.", nil, nil)}
		two := &clicker{desc: prometheus.NewDesc("two", "Asked.", nil, nil)}
		r := prometheus.NewRegistry()
		if err := r.Register(&cached{of: []prometheus.Collector{one, two}}); err != nil {
			t.Fatal(err)
		}
		value := func() (values []float64) {
			t.Helper()
			families, err := r.Gather()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range families {
				if f.GetType() == dto.MetricType_GAUGE {
					values = append(values, f.Metric[0].Gauge.GetValue())
				}
			}
			return values
		}
		for _, tt := range []struct {
			after time.Duration
			want  float64
		}{{0, 1}, {fresh - 1, 1}, {1, 2}, {fresh / 2, 2}, {fresh, 3}} {
			time.Sleep(tt.after)
			if got := value(); len(got) != 2 || got[0] != tt.want || got[1] != tt.want {
				t.Errorf("%v later: %v, want both %v", tt.after, got, tt.want)
			}
		}
	})
}
