package dashboard

import (
	"fmt"
	"strings"
)

// A kind is how the server stores histograms.
type kind struct {
	uid, title string
	native     bool
}

var (
	classic = kind{uid: "httpgen", title: "httpgen"}
	native  = kind{uid: "httpgen-native", title: "httpgen (native histograms)", native: true}
)

const (
	// window is what a rate is taken over: in Grafana at least four scrapes.
	window = "[$__rate_interval]"
	// process selects what belongs to no client.
	process = `job=~"$job", instance=~"$instance"`
	// client selects what belongs to a client and its target.
	client = process + `, client=~"$client", target=~"$target"`
)

// ofRun keeps what comes from a process whose newest run is a chosen one.
func ofRun(vector string) string {
	return "(" + vector + " and on (job, instance) " + selector("httpgen_run_info", process, `run_id=~"$run_id"`) + ")"
}

// selector returns a name with the labels of a scope and further matchers.
func selector(name, scope string, matchers ...string) string {
	return name + "{" + strings.Join(append([]string{scope}, matchers...), ", ") + "}"
}

// level returns a gauge of a process.
func level(name string, matchers ...string) string {
	return ofRun(selector(name, process, matchers...))
}

// clientLevel returns a gauge of clients.
func clientLevel(name string, matchers ...string) string {
	return ofRun(selector(name, client, matchers...))
}

// rate returns the rate of a counter of a process.
func rate(name string, matchers ...string) string {
	return ofRun("rate(" + selector(name, process, matchers...) + window + ")")
}

// clientRate returns the rate of a counter of clients.
func clientRate(name string, matchers ...string) string {
	return ofRun("rate(" + selector(name, client, matchers...) + window + ")")
}

// sum returns a sum, which keeps the labels of by if there are any.
func sum(by, vector string) string {
	if by == "" {
		return "sum(" + vector + ")"
	}
	return "sum by (" + by + ") (" + vector + ")"
}

// spread returns the histogram of clients' times within the window, all of
// them together.
func (k kind) spread(name string) string {
	if k.native {
		return sum("", clientRate(name))
	}
	return sum("le", clientRate(name+"_bucket"))
}

// quantile returns quantile q of clients' times within the window.
func (k kind) quantile(q float64, name string) string {
	return fmt.Sprintf("histogram_quantile(%g, %s)", q, k.spread(name))
}

// identity returns the runs within the time range of the dashboard, with the
// version of the program.
func identity() string {
	versions := "max by (job, instance, version) (last_over_time(" + selector("httpgen_build_info", process) + "[$__range]))"
	return "last_over_time(" + selector("httpgen_run_info", process, `run_id=~"$run_id"`) + "[$__range]) * on (job, instance) group_left (version) " + versions
}

// share returns what each client has of all of them.
func share(vector string) string {
	return sum("instance, client", vector) + " / on () group_left () " + sum("", vector)
}

// jain returns Jain's index of the clients that run, from their reply rates by
// their weights.
func jain() string {
	rates := sum("job, instance, client", clientRate("httpgen_replies_total"))
	weights := "(" + sum("job, instance, client", clientLevel("httpgen_client_weight")) + " > 0)"
	x := "(" + rates + " / " + weights + ` and on (job, instance) (httpgen_run_phase{phase=~"warmup|running"} == 1))`
	return "sum(" + x + ") ^ 2 / (count(" + x + ") * (sum(" + x + " ^ 2) > 0))"
}
