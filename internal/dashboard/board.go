package dashboard

// perSecond is Grafana's unit of things a second, for things it has no name of.
const perSecond = "suffix:/s"

// newBoard returns the dashboard for a kind of histograms.
func newBoard(k kind) *board {
	return &board{
		UID: k.uid, Title: k.title, Description: "Runs of httpgen, the open-loop HTTP load generator.", Tags: []string{"httpgen"},
		SchemaVersion: 39, Editable: true, GraphTooltip: 1, Refresh: "5s", Time: object{"from": "now-5m", "to": "now"},
		Annotations: object{"list": []object{
			mark("Starts", "green", "httpgen_run_start_timestamp_seconds"),
			mark("Ends", "blue", "httpgen_run_end_timestamp_seconds"),
		}},
		Templating: templating{List: []variable{
			{Name: "datasource", Label: "Data source", Type: "datasource", Query: "prometheus", Refresh: 1},
			choice("job", "Job", "httpgen_build_info"),
			choice("instance", "Instance", `httpgen_build_info{job=~"$job"}`),
			choice("run_id", "Run", "httpgen_run_info{"+process+"}"),
			choice("client", "Client", "httpgen_client_weight{"+process+"}"),
			choice("target", "Target", "httpgen_client_weight{"+process+`, client=~"$client"}`),
		}},
		Panels: lay(k.rows()),
	}
}

// choice returns the variable of a label, which is named after it. All of its
// values includes series without the label.
func choice(label, title, of string) variable {
	q := "label_values(" + of + ", " + label + ")"
	return variable{
		Name: label, Label: title, Type: "query", Datasource: chosen, Query: object{"query": q, "refId": label}, Definition: q,
		Refresh: 2, Sort: 1, Multi: true, IncludeAll: true, AllValue: ".*",
		Current: object{"selected": true, "text": []string{"All"}, "value": []string{"$__all"}},
	}
}

// mark returns an annotation at the instants that a gauge of a process names.
func mark(name, color, gauge string) object {
	return object{
		"name": name, "enable": true, "iconColor": color, "datasource": chosen,
		"expr":            level(gauge) + " * 1000 > 0", // Grafana wants milliseconds
		"useValueForTime": true, "titleFormat": name, "textFormat": "{{instance}}", "step": "1s",
	}
}

func (k kind) rows() []row {
	return []row{
		{"Run", k.run()},
		{"Rate", rates()},
		{"Errors and shed arrivals", failures()},
		{"Status", statuses()},
		{"Latency", k.latency()},
		{"Lag", k.lag()},
		{"In flight and connections", connections()},
		{"Clients", clients()},
		{"Generator", generator()},
	}
}

func (k kind) run() []*panel {
	accuracy := "Percentiles here come from buckets in the steps 1, 2, 5: within a bucket they are interpolated."
	if k.native {
		accuracy = "Percentiles here come from native buckets, each 9 % wide: within a bucket they are interpolated."
	}
	started, ended := level("httpgen_run_start_timestamp_seconds"), level("httpgen_run_end_timestamp_seconds")
	return []*panel{
		figure{
			title: "Verdict", width: 4, none: "no run",
			about: "May the numbers be believed? The worst of all processes. Invalid: the generator, not the server, made them. The report says why.",
			mappings: []object{{"type": "value", "options": object{
				"0": object{"text": "valid", "color": "green", "index": 0},
				"1": object{"text": "degraded", "color": "yellow", "index": 1},
				"2": object{"text": "invalid", "color": "red", "index": 2},
			}}},
			query: query{"max(" + level("httpgen_verdict", `status="degraded"`) + " + ignoring (status) 2 * " + level("httpgen_verdict", `status="invalid"`) + ")", ""},
		}.panel(),
		figure{
			title: "Phase", width: 4, none: "no run", named: true,
			about: "Of each process: warmup, running, draining (no more arrivals are planned) or done.",
			query: query{level("httpgen_run_phase") + " == 1", "{{phase}}"},
		}.panel(),
		figure{
			title: "Time", width: 4, unit: "s", none: "no run", about: "Since the start of the run, up to its end. The longest of all processes.",
			query: query{"max((" + ended + " > 0 or time() + 0 * " + ended + ") - (" + started + " > 0))", ""},
		}.panel(),
		figure{
			title: "Trial", width: 4, none: "no experiment", named: true, about: "Which trial of an experiment the newest run is.",
			query: query{level("httpgen_trial_info"), "{{experiment}} {{arm}} {{rung}}/{{trial}}"},
		}.panel(),
		figure{
			title: "Late arrivals", width: 4, unit: "percentunit",
			about:      "Share of arrivals that were taken more than 1 ms and one period after their intended start, since the process began.",
			thresholds: thresholds("green", step{.01, "yellow"}, step{.05, "red"}),
			query:      query{sum("", clientLevel("httpgen_arrivals_started_late_total")) + " / " + sum("", clientLevel("httpgen_arrivals_started_total")), ""},
		}.panel(),
		figure{
			title: "Error share", width: 4, unit: "percentunit",
			about:      "Share of arrivals that ended in an error, of those that ended since the process began.",
			thresholds: thresholds("green", step{.001, "yellow"}, step{.05, "red"}),
			query: query{sum("", clientLevel("httpgen_errors_total")) + " / (" + sum("", clientLevel("httpgen_errors_total")) +
				" + " + sum("", clientLevel("httpgen_arrivals_completed_total")) + ")", ""},
		}.panel(),
		table("Identity", "The runs in the time range.", 12,
			[]string{"instance", "job", "run_id", "model", "process", "engine", "version"},
			query{identity(), ""}),
		note("About these numbers", 12, accuracy+` Those of the report are exact.

Rates are means over four scrapes. Scrape httpgen every second, and set the **scrape interval of the data source** to
`+"`1s`"+` too: otherwise Grafana takes its default of 15 s, and draws means over a minute.

Everything counts the warm-up, which the report leaves out.`),
	}
}

func rates() []*panel {
	return []*panel{
		graph{
			title: "Arrivals and replies", unit: perSecond, width: 24, dashed: "asked for",
			about: "Asked for: what the schedule says. Offered: arrivals that were due. Started: arrivals that began. " +
				"Replied: complete replies. Good: replies in time, with an expected status where one was asked for.",
			queries: []query{
				{sum("", clientLevel("httpgen_target_rate")), "asked for"},
				{sum("", clientRate("httpgen_arrivals_scheduled_total")), "offered"},
				{sum("", clientRate("httpgen_arrivals_started_total")), "started"},
				{sum("", clientRate("httpgen_replies_total")), "replied"},
				{sum("", clientRate("httpgen_goodput_total")), "good"},
			},
		}.panel(),
		graph{
			title: "Started share", unit: "percentunit", limit: .99, below: true,
			about: "Arrivals started, of those that were due. Below the line a run is invalid.",
			queries: []query{
				{sum("", clientRate("httpgen_arrivals_started_total")) + " / " + sum("", clientRate("httpgen_arrivals_scheduled_total")), "started"},
			},
		}.panel(),
		graph{
			title: "Bytes", unit: "Bps", about: "Bytes that the kernel took, and bytes read.",
			queries: []query{
				{sum("", clientRate("httpgen_sent_bytes_total")), "sent"},
				{sum("", clientRate("httpgen_received_bytes_total")), "received"},
			},
		}.panel(),
	}
}

func failures() []*panel {
	return []*panel{
		graph{
			title: "Errors", unit: perSecond, stack: true, about: "Arrivals that ended in an error, by reason.",
			queries: []query{{sum("reason", clientRate("httpgen_errors_total")), "{{reason}}"}},
		}.panel(),
		graph{
			title: "Shed", unit: perSecond, stack: true, about: "Arrivals that were due and deliberately not started, by cause. Behind inflight and backlog there is often a slow server.",
			queries: []query{{sum("cause", clientRate("httpgen_arrivals_shed_total")), "{{cause}}"}},
		}.panel(),
		graph{
			title: "Calls", unit: perSecond, stack: true, about: "Calls of arrivals that have ended, by what came of them.",
			queries: []query{{sum("outcome", clientRate("httpgen_calls_total")), "{{outcome}}"}},
		}.panel(),
		graph{
			title: "Deadline misses and retries", unit: perSecond, about: "Arrivals that were not complete within the deadline (errors too), and further tries.",
			queries: []query{
				{sum("", clientRate("httpgen_deadline_misses_total")), "deadline misses"},
				{sum("", clientRate("httpgen_retries_total")), "retries"},
			},
		}.panel(),
	}
}

func statuses() []*panel {
	return []*panel{
		graph{
			title: "Replies by status", unit: perSecond, stack: true, width: 24, about: "Complete replies, by status code.",
			queries: []query{{sum("code", clientRate("httpgen_replies_total")), "{{code}}"}},
		}.panel(),
	}
}

func (k kind) latency() []*panel {
	percentiles := func(name string) []query {
		return []query{
			{k.quantile(.5, name), "p50"}, {k.quantile(.9, name), "p90"}, {k.quantile(.99, name), "p99"}, {k.quantile(.999, name), "p99.9"},
		}
	}
	return []*panel{
		graph{
			title: "Latency", unit: "s", log: true, queries: percentiles("httpgen_latency_seconds"),
			about: "From the intended start of a call to the end of its reply: what a user would have waited.",
		}.panel(),
		graph{
			title: "Service time", unit: "s", log: true, queries: percentiles("httpgen_service_seconds"),
			about: "From the actual start of a call to the end of its reply. It looks better than the latency while calls have to wait.",
		}.panel(),
		heatmap("Latency", "Replies per second in each bucket.", "s", query{k.spread("httpgen_latency_seconds"), "{{le}}"}),
		graph{
			title: "Parts of the time, p99", unit: "s", log: true, width: 24,
			about: "Connect: without TLS. First byte: from the last byte of a request to the first of its reply. Transfer: from there to its last. Failure: from the start of an arrival to its error.",
			queries: []query{
				{k.quantile(.99, "httpgen_wait_seconds"), "wait"},
				{k.quantile(.99, "httpgen_connect_seconds"), "connect"},
				{k.quantile(.99, "httpgen_tls_seconds"), "TLS"},
				{k.quantile(.99, "httpgen_first_byte_seconds"), "first byte"},
				{k.quantile(.99, "httpgen_transfer_seconds"), "transfer"},
				{k.quantile(.99, "httpgen_lifetime_seconds"), "connection"},
				{k.quantile(.99, "httpgen_failure_seconds"), "failure"},
			},
		}.panel(),
	}
}

func (k kind) lag() []*panel {
	return []*panel{
		graph{
			title: "Lag", unit: "s", log: true, limit: .1,
			about: "From the intended start of an arrival until it was taken: the generator's own fault. A p99 above the line makes a run invalid, as does one above 5 ms that is half of the latency's.",
			queries: []query{
				{k.quantile(.5, "httpgen_lag_seconds"), "p50"}, {k.quantile(.99, "httpgen_lag_seconds"), "p99"}, {k.quantile(.999, "httpgen_lag_seconds"), "p99.9"},
			},
		}.panel(),
		graph{
			title: "Late arrivals", unit: "percentunit", limit: .05, about: "Share of arrivals that were taken more than 1 ms and one period after their intended start. Above the line a run is invalid.",
			queries: []query{
				{sum("", clientRate("httpgen_arrivals_started_late_total")) + " / " + sum("", clientRate("httpgen_arrivals_started_total")), "late"},
			},
		}.panel(),
	}
}

func connections() []*panel {
	return []*panel{
		graph{
			title: "In flight", unit: "none", dashed: "bound", about: "Arrivals open, and how many may be. Without a line there is no bound.",
			queries: []query{
				{sum("", clientLevel("httpgen_inflight")), "in flight"},
				{sum("", level("httpgen_inflight_limit")+" > 0"), "bound"},
			},
		}.panel(),
		graph{
			title: "Connections", unit: "none", stack: true, dashed: "peak", about: "Connections open, by state, and the most that were open at once.",
			queries: []query{
				{sum("state", clientLevel("httpgen_connections")), "{{state}}"},
				{sum("", level("httpgen_connections_peak")), "peak"},
			},
		}.panel(),
		graph{
			title: "New connections", unit: perSecond, about: "Connections begun, established, and ended before they were established.",
			queries: []query{
				{sum("", clientRate("httpgen_connections_attempted_total")), "begun"},
				{sum("", clientRate("httpgen_connections_established_total")), "established"},
				{sum("", clientRate("httpgen_connections_failed_total")), "failed"},
			},
		}.panel(),
		graph{
			title: "Connect burst", unit: "none", about: "Most connections opened in one pass of a loop.",
			queries: []query{{"max(" + level("httpgen_connect_burst_peak") + ")", "peak"}},
		}.panel(),
	}
}

func clients() []*panel {
	const name = "{{instance}} {{client}}"
	return []*panel{
		graph{
			title: "Reply rate by client", unit: perSecond,
			queries: []query{{sum("instance, client", clientRate("httpgen_replies_total")), name}},
		}.panel(),
		graph{
			title: "Share of the replies by client", unit: "percentunit", full: true, dashed: "/ weight$/",
			about: "What each client has of all replies. Dashed: its share of all weights.",
			queries: []query{
				{share(clientRate("httpgen_replies_total")), name},
				{share(clientLevel("httpgen_client_weight")), name + " weight"},
			},
		}.panel(),
		graph{
			title: "Jain index", unit: "none", full: true,
			about:   "Fairness of the reply rates by weight, over the clients that run: 1 if all get what their weight says, 1/n if one of n gets everything.",
			queries: []query{{jain(), "Jain index"}},
		}.panel(),
		graph{
			title: "Offered rate by client", unit: perSecond, about: "Arrivals that were due: unequal shares of the replies are no wonder if these are unequal.",
			queries: []query{{sum("instance, client", clientRate("httpgen_arrivals_scheduled_total")), name}},
		}.panel(),
	}
}

func generator() []*panel {
	return []*panel{
		graph{
			title: "CPU", unit: "percentunit", limit: .95,
			about: "Busiest loop: the share of a core that it works; spinning is not work. Above the line a run is invalid. Process: of all cores, spinning included.",
			queries: []query{
				{level("httpgen_busy_ratio"), "{{instance}} busiest loop"},
				{rate("process_cpu_seconds_total"), "{{instance}} process"},
			},
		}.panel(),
		graph{
			title: "Descriptors", unit: "none", log: true, dashed: "/ bound$/", about: "Files and sockets open, and how many may be.",
			queries: []query{
				{level("process_open_fds"), "{{instance}} open"},
				{level("process_max_fds"), "{{instance}} bound"},
			},
		}.panel(),
		graph{
			title: "Garbage collection", unit: "percentunit", about: "Share of the time for which collections stopped the process.",
			queries: []query{{rate("go_gc_duration_seconds_sum"), "{{instance}}"}},
		}.panel(),
		graph{
			title: "Memory", unit: "bytes",
			queries: []query{
				{level("process_resident_memory_bytes"), "{{instance}} resident"},
				{level("go_memstats_heap_inuse_bytes"), "{{instance}} heap in use"},
			},
		}.panel(),
	}
}
