package main

// monitorFlags are the options of live metrics, which have no field in
// run.Options. What they do is tested with a real Prometheus.
var monitorFlags = []string{
	"web.listen-address", "web.config.file", "web.telemetry-path", "web.wait-scrape", "metrics-linger",
	"push", "push-interval", "push-label", "push-native", "push-user", "push-password-file", "push-token-file", "push-header-file",
}
