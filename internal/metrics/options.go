package metrics

import (
	"fmt"
	"path"
	"strings"

	"github.com/prometheus/exporter-toolkit/web"
)

// Options configures a Server. Every field may be left zero.
type Options struct {
	// Listen are the addresses to serve at, each host:port, or a port alone:
	// "9900" and ":9900" mean loopback, in IPv4 and IPv6 where both are there.
	// Port 0 is any free one. Without an address nothing is served, and no
	// socket opened; the metrics can still be taken from the Registry.
	Listen     []string
	ConfigFile string // the exporter toolkit's web configuration; default none: in the clear, for everyone
	Path       string // of the metrics; default /metrics
	Version    string // of the program
}

const defaultPath = "/metrics"

// pathBytes are what a path may consist of: it becomes a part of a pattern of
// the server and of an HTML page, where others have a meaning.
const pathBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/"

// validate fills the defaults and reads the addresses.
func (o *Options) validate() (addresses []address, err error) {
	for _, text := range o.Listen {
		a, err := parseAddress(text)
		if err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
		addresses = append(addresses, a)
	}
	if o.Path == "" {
		o.Path = defaultPath
	}
	if o.Path[0] != '/' || o.Path == "/" || path.Clean(o.Path) != o.Path || strings.HasPrefix(o.Path, "/-/") || strings.Trim(o.Path, pathBytes) != "" {
		return nil, fmt.Errorf("metrics: path %q: want one such as %s, of letters, digits and -._~/, and not below /-/", o.Path, defaultPath)
	}
	if err := web.Validate(o.ConfigFile); err != nil {
		return nil, fmt.Errorf("metrics: web configuration %q: %w", o.ConfigFile, err)
	}
	return addresses, nil
}
