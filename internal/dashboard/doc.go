// Package dashboard holds what is shipped for those who watch runs with
// Prometheus and Grafana: dashboards, recording and alerting rules with their
// unit tests, a scrape configuration, and Grafana's provisioning. [Write] puts
// all of it into a directory.
//
// # Design
//
// The two dashboards are built from one description, so that the one for native
// histograms cannot fall behind the one for classic buckets. A server that
// stores native histograms has no series of classic buckets, which is why one
// dashboard cannot serve both. The rules can: they ask for either.
//
// Which run is shown is found by httpgen_run_info, the only series of a scraped
// process that has the run's identifier: each selector keeps what comes from a
// process while its newest run is one of those that were chosen. The dashboards
// do not need the rules.
//
// The fairness of clients is Jain's index of their reply rates, each divided by
// the client's weight: 1 if all get what their weight says, 1/n if one of n
// gets everything. A client that runs and gets nothing counts, one that is done
// does not.
//
// The tests run all expressions in a real Prometheus.
package dashboard
