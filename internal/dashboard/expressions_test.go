package dashboard

import (
	"context"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"
)

// everything chooses what the dashboards choose at first.
var everything = map[string]string{"job": ".*", "instance": ".*", "run_id": ".*", "client": ".*", "target": ".*"}

// fill puts values in for variables, as Grafana does with a data source that is
// scraped every second.
func fill(expr string, values map[string]string) string {
	pairs := []string{"$__rate_interval", "4s", "$__range", "5m"}
	for name, v := range values {
		pairs = append(pairs, "$"+name, v)
	}
	return strings.NewReplacer(pairs...).Replace(expr)
}

// choose returns everything with another value of one variable.
func choose(name, value string) map[string]string {
	values := map[string]string{}
	for n, v := range everything {
		values[n] = v
	}
	values[name] = value
	return values
}

// TestExpressions runs every expression of the dashboards and the rules in a
// Prometheus of each kind.
func TestExpressions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind
		flags []string
	}{
		{classic, nil},
		{native, []string{"--enable-feature=native-histograms"}},
	} {
		t.Run(tt.uid, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, newEndpoint(t), tt.flags...)
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
			defer cancel()
			b := readBoard(t, tt.kind)
			wantPanels(ctx, t, s, b)
			wantOthers(ctx, t, s, b)
			wantRules(ctx, t, s)
			wantValues(ctx, t, s, tt.kind)
		})
	}
}

var legendLabel = regexp.MustCompile(`\{\{(\w+)\}\}`)

// wantPanels wants data of every query, with the labels that its legend names.
func wantPanels(ctx context.Context, t *testing.T, s *server, b *board) {
	t.Helper()
	n := 0
	for _, p := range b.Panels {
		for _, q := range p.Targets {
			n++
			all, err := s.await(ctx, fill(q.Expr, everything))
			if err != nil {
				t.Fatalf("%s: %v", p.Title, err)
			}
			for _, m := range legendLabel.FindAllStringSubmatch(q.LegendFormat, -1) {
				if all[0].Metric[m[1]] == "" && !(m[1] == "le" && len(all[0].Histograms) > 0) {
					t.Errorf("%s: legend %q with series %v", p.Title, q.LegendFormat, all[0].Metric)
				}
			}
			if p.Type == "table" {
				order := p.Transformations[0]["options"].(map[string]any)["indexByName"].(map[string]any)
				for column := range order {
					if all[0].Metric[column] == "" {
						t.Errorf("%s: column %q with series %v", p.Title, column, all[0].Metric)
					}
				}
			}
		}
	}
	if n < 60 {
		t.Errorf("%d queries, want 60 or more", n)
	}
}

var labelValues = regexp.MustCompile(`^label_values\((.*), (\w+)\)$`)

// wantOthers wants data of the variables and the annotations.
func wantOthers(ctx context.Context, t *testing.T, s *server, b *board) {
	t.Helper()
	for _, v := range b.Templating.List {
		if v.Type != "query" {
			continue
		}
		m := labelValues.FindStringSubmatch(v.Definition)
		if m == nil {
			t.Errorf("variable %s: %q", v.Name, v.Definition)
			continue
		}
		if all, err := s.await(ctx, fill(m[1], everything)); err != nil || all[0].Metric[m[2]] == "" {
			t.Errorf("variable %s: %v, %v", v.Name, all, err)
		}
	}
	for _, a := range b.Annotations["list"].([]any) {
		all, err := s.await(ctx, fill(a.(map[string]any)["expr"].(string), everything))
		if err != nil {
			t.Error(err)
			continue
		}
		// Milliseconds, and within the test.
		if at, _ := all[0].last(); at < float64(s.since.Add(-time.Minute).UnixMilli()) || at > float64(time.Now().UnixMilli()) {
			t.Errorf("annotation at %v", at)
		}
	}
}

// wantRules wants data of all rules: those that record have recorded, and the
// run is bad enough for every alert.
func wantRules(ctx context.Context, t *testing.T, s *server) {
	t.Helper()
	rules, err := s.rules(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(rules) != 11 {
		t.Errorf("rules %v, want 11", rules)
	}
	for name, expr := range rules {
		if _, err := s.await(ctx, expr); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(name, ":") {
			if _, err := s.await(ctx, name); err != nil {
				t.Errorf("%s is not recorded: %v", name, err)
			}
		}
	}
}

// wantValues wants what the run is known to have done.
func wantValues(ctx context.Context, t *testing.T, s *server, k kind) {
	t.Helper()
	// value returns the last one of an expression's only series, or of that of a
	// client.
	value := func(expr, client string) float64 {
		t.Helper()
		all, err := s.await(ctx, expr)
		if err != nil {
			t.Error(err)
			return math.NaN()
		}
		for _, one := range all {
			if client == "" && len(all) == 1 || client != "" && one.Metric["client"] == client {
				v, _ := one.last()
				return v
			}
		}
		t.Errorf("%s: %v, want one series", expr, all)
		return math.NaN()
	}
	for _, tt := range []struct {
		name     string
		expr     string
		client   string
		from, to float64
	}{
		{"share of a", share(clientRate("httpgen_replies_total")), "a", .099, .101},
		{"share of c", share(clientRate("httpgen_replies_total")), "c", .599, .601},
		{"weight of b", share(clientLevel("httpgen_client_weight")), "b", .3, .3},
		{"replies by weight", jain(), "", .9999, 1.0001},
		{"recorded share of b", "instance_client:httpgen_reply_share:ratio_rate30s", "b", .299, .301},
		{"recorded index", "job:httpgen_fairness:jain_rate30s", "", .9999, 1.0001},
		// 3 ms and 160 ms, in buckets to 5 and to 200 ms or in native ones of 9 %.
		{"median", k.quantile(.5, "httpgen_latency_seconds"), "", bound(k, .002, .00275), bound(k, .005, .0033)},
		{"p99", k.quantile(.99, "httpgen_latency_seconds"), "", bound(k, .1, .146), bound(k, .2, .175)},
		{"recorded p99 of c", "instance_client:httpgen_latency_seconds:p99_rate30s", "c", bound(k, .002, .00275), bound(k, .005, .0033)},
		{"recorded lag of a", "instance_client:httpgen_lag_seconds:p99_rate30s", "a", bound(k, .1, .137), bound(k, .2, .164)},
	} {
		if v := value(fill(tt.expr, everything), tt.client); !(v >= tt.from && v <= tt.to) {
			t.Errorf("%s: %v, want %v to %v", tt.name, v, tt.from, tt.to)
		}
	}

	// What was not chosen is not shown.
	replies := sum("client", clientRate("httpgen_replies_total"))
	for name := range everything {
		if all, err := s.graph(ctx, fill(replies, choose(name, "another"))); err != nil || len(all) > 0 {
			t.Errorf("with another %s: %v, %v, want nothing", name, all, err)
		}
	}
	if all, err := s.graph(ctx, fill(replies, choose("client", "(a|c)"))); err != nil || len(all) != 2 {
		t.Errorf("with clients a and c: %v, %v, want two series", all, err)
	}
	if all, err := s.graph(ctx, fill(replies, choose("run_id", "scripted"))); err != nil || len(all) != 3 {
		t.Errorf("with the run chosen: %v, %v, want three series", all, err)
	}
}

// bound returns a bound of a percentile for a kind of histograms.
func bound(k kind, ofClassic, ofNative float64) float64 {
	if k.native {
		return ofNative
	}
	return ofClassic
}
