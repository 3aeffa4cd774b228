package push

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// gatewayServer is a Pushgateway's way in. It sends what each push holds.
func gatewayServer(t *testing.T) (url string, pushes chan string) {
	t.Helper()
	pushes = make(chan string, 10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/base/metrics/"), "/")
		var key []string
		for pair := range slices.Chunk(parts, 2) {
			key = append(key, strings.Join(pair, "="))
		}
		slices.Sort(key)
		text := r.Method + " " + strings.Join(key, ",")
		d := expfmt.NewDecoder(r.Body, expfmt.ResponseFormat(r.Header))
		for {
			f := &dto.MetricFamily{}
			if err := d.Decode(f); err == io.EOF {
				break
			} else if err != nil {
				t.Error(err)
				break
			}
			for _, m := range f.Metric {
				if m.TimestampMs != nil {
					t.Errorf("%s has a timestamp, which a Pushgateway refuses", f.GetName())
				}
				text += fmt.Sprintf("\n%s %s", f.GetName(), strings.ReplaceAll(m.String(), "  ", " "))
			}
		}
		pushes <- text
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/base/", pushes
}

func TestPushgateway(t *testing.T) {
	t.Parallel()
	url, pushes := gatewayServer(t)
	r := prometheus.NewRegistry()
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: "c_total", ConstLabels: prometheus.Labels{"job": "other", "client": "1"}})
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "info"}, []string{"run_id"})
	r.MustRegister(c, info)
	info.WithLabelValues("r/1").Set(1)
	stamped := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		families, err := r.Gather()
		for _, f := range families {
			for _, m := range f.Metric {
				m.TimestampMs = new(int64(1))
				if m.Counter != nil {
					m.Counter.CreatedTimestamp = nil
				}
			}
		}
		return families, err
	})
	p, err := New(Options{Pushgateway: url, Job: "j", Instance: "h:1", RunID: "r/1", Labels: map[string]string{"zone": "z"}}, stamped)
	if err != nil {
		t.Fatal(err)
	}
	want := func(value string) string {
		return "POST instance=h:1,job=j,run_id@base64=ci8x,zone=z\n" +
			`c_total label:{name:"client" value:"1"} label:{name:"exported_job" value:"other"} counter:{value:` + value + "}\n" +
			`info gauge:{value:1}`
	}
	done := run(t.Context(), p)
	if got := <-pushes; got != want("0") {
		t.Errorf("got\n%s\nwant\n%s", got, want("0"))
	}
	c.Add(9)
	if err := p.Finish(t.Context()); err != nil {
		t.Errorf("Finish: %v", err)
	}
	<-done
	var last string
	for len(pushes) > 0 {
		last = <-pushes
	}
	if last != want("9") {
		t.Errorf("got\n%s\nwant\n%s", last, want("9"))
	}
	if got := p.samples.Load(); got < 4 || got%2 != 0 {
		t.Errorf("%d metrics counted, want 2 for each push", got)
	}
}

// What cannot be encoded is given up at once.
func TestPushgatewayUnencodable(t *testing.T) {
	t.Parallel()
	url, _ := gatewayServer(t)
	kind := dto.MetricType_COUNTER
	p, err := New(Options{Pushgateway: url}, prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		return []*dto.MetricFamily{{Name: new("c_total"), Type: &kind, Metric: []*dto.Metric{{}}}}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	var lost *LossError
	if err := p.Finish(t.Context()); !errors.As(err, &lost) || !lost.Totals || p.Failures() != 1 {
		t.Errorf("Finish: %v after %d failures, want the totals lost after one", err, p.Failures())
	}
}
