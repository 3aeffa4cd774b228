// Package metrics serves what a run is doing to Prometheus.
//
//	s, err := metrics.New(metrics.Options{Listen: []string{":9900"}, Version: "1.2.3"})
//	addrs, err := s.Start()
//	defer s.Close()
//	run, err := s.Collector().Attach(...)
//	err = s.WaitScrape(ctx) // where the start is to be held back
//	s.Ready()
//	...
//	s.Final()
//	s.Linger(ctx, linger)
//
// # Design
//
// TLS, client certificates and passwords are the business of the exporter
// toolkit and its web configuration file, which users of Prometheus have
// already. The toolkit changes the http.Server that it is given, so each
// listener has one of its own. It reads the file anew for each request: a
// certificate may be replaced during a run.
//
// A scrape is complete when the kernel took all of its body. Whether the other
// side read it cannot be known, and what the kernel took is still delivered
// when the process ends.
//
// Scrapes that overlap do not share one look at the metrics, as promhttp offers:
// one that began after the run would then show totals that were taken before
// its end. A limit of scrapes at once bounds their cost instead. A scrape holds
// its place under that limit while its reply is made, never while it is sent,
// so that one that does not read keeps nobody else out.
package metrics
