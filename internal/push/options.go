package push

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prometheus/common/model"
)

// Options configures a Pusher. One of RemoteWrite and Pushgateway is required;
// every other field may be left zero.
type Options struct {
	RemoteWrite string // URL that remote-write requests are posted to, such as http://localhost:9090/api/v1/write
	Pushgateway string // URL of a Pushgateway, without the part from /metrics on

	Auth     Auth
	Interval time.Duration // between two gatherings, at least 100 ms; default 1 s
	Timeout  time.Duration // of one attempt to send; default 10 s

	Job      string            // label of every series; default "httpgen"
	Instance string            // label of every series, different for each process; default host name and process number
	RunID    string            // label run_id of every series; none if empty
	Labels   map[string]string // more labels of every series; where a metric has one of the same name, that one stands

	// Native sends native histograms instead of the classic buckets of the same
	// metric, by remote write. A receiver that does not know them may refuse all
	// that comes with them. A Pushgateway is given both kinds in any case.
	Native bool
}

// minInterval keeps a mistaken unit from flooding the receiver.
const minInterval = 100 * time.Millisecond

// A label is one of a series.
type label struct{ name, value string }

// validate fills the defaults and returns the receiver's URL.
func (o *Options) validate() (*url.URL, error) {
	var to *url.URL
	var err error
	switch {
	case o.RemoteWrite == "" && o.Pushgateway == "":
		return nil, errors.New("push: neither RemoteWrite nor Pushgateway is given: want the URL of one")
	case o.RemoteWrite != "" && o.Pushgateway != "":
		return nil, errors.New("push: RemoteWrite and Pushgateway are both given: want a Pusher for each, since the credentials of one are not for the other")
	case o.RemoteWrite != "":
		to, err = parseURL("RemoteWrite", o.RemoteWrite)
	default:
		to, err = parseURL("Pushgateway", o.Pushgateway)
	}
	if err != nil {
		return nil, err
	}
	if o.Pushgateway != "" {
		if to.RawQuery != "" {
			return nil, fmt.Errorf("push: Pushgateway %q: want a URL without a query", beforeQuery(o.Pushgateway))
		}
		if o.Native {
			return nil, errors.New("push: Native with Pushgateway: want it with RemoteWrite only; a Pushgateway is given both kinds of histograms")
		}
	}
	if o.Interval == 0 {
		o.Interval = time.Second
	}
	if o.Interval < minInterval {
		return nil, fmt.Errorf("push: Interval %v: want at least %v", o.Interval, minInterval)
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	if o.Timeout < 0 {
		return nil, fmt.Errorf("push: Timeout %v: want more than 0", o.Timeout)
	}
	if o.Job == "" {
		o.Job = "httpgen"
	}
	if o.Instance == "" {
		host, err := os.Hostname()
		if err != nil || host == "" {
			return nil, errors.New("push: Instance is empty and this host has no name: want one that no other process uses")
		}
		o.Instance = fmt.Sprintf("%s:%d", host, os.Getpid())
	}
	return to, nil
}

// labels returns what every series carries, in order of names.
func (o *Options) labels() ([]label, error) {
	all := []label{{"job", o.Job}, {"instance", o.Instance}}
	if o.RunID != "" {
		all = append(all, label{"run_id", o.RunID})
	}
	for name, value := range o.Labels {
		switch {
		case !model.LegacyValidation.IsValidLabelName(name):
			return nil, fmt.Errorf("push: label %q: want a name of letters, digits and _ that does not begin with a digit", name)
		case strings.HasPrefix(name, "__"), name == "le", name == "quantile":
			return nil, fmt.Errorf("push: label %q: want another name, this one is reserved", name)
		case name == "job", name == "instance", name == "run_id":
			return nil, fmt.Errorf("push: label %q: want it in its own field of Options", name)
		}
		all = append(all, label{name, value})
	}
	slices.SortFunc(all, func(a, b label) int { return cmp.Compare(a.name, b.name) })
	for _, l := range all {
		if strings.TrimSpace(l.value) == "" || !utf8.ValidString(l.value) {
			return nil, fmt.Errorf("push: label %s=%q: want a value that is not blank and is valid UTF-8", l.name, l.value)
		}
	}
	return all, nil
}

// parseURL checks a receiver's URL. Its errors show no part of one that may
// hold a password, nor a query.
func parseURL(field, s string) (*url.URL, error) {
	u, err := url.Parse(s)
	valid := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.Fragment == ""
	switch {
	case err == nil && u.User != nil:
		return nil, fmt.Errorf("push: %s holds a user or a password and is not shown: want them in Auth", field)
	case !valid && strings.Contains(s, "@"):
		// What a broken URL has before an @ may be a password.
		return nil, fmt.Errorf("push: %s is not a URL, and not shown because of its @: want http://HOST or https://HOST", field)
	case !valid:
		return nil, fmt.Errorf("push: %s %q: want http://HOST or https://HOST with a port and a path as needed", field, beforeQuery(s))
	}
	return u, nil
}

// beforeQuery returns what may be shown of a URL: a query may hold a token.
func beforeQuery(s string) string {
	before, _, _ := strings.Cut(s, "?")
	return before
}
