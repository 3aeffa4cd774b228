package dashboard

// A query is an expression and what its series are called.
type query struct{ expr, legend string }

func targets(format string, queries ...query) []target {
	var all []target
	for i, q := range queries {
		all = append(all, target{
			RefID: string(rune('A' + i)), Datasource: chosen, Expr: q.expr, LegendFormat: q.legend, Format: format, Range: true,
		})
	}
	return all
}

// A graph describes a panel of lines over time. Every field but the title, the
// unit and the queries may be left zero.
type graph struct {
	title, about string
	unit         string // Grafana's name of it
	width        int    // of 24; default 12
	log          bool
	stack        bool
	full         bool    // the axis goes from 0 to 1
	limit        float64 // is drawn as a line; 0 is none
	below        bool    // what is below the limit is bad, not what is above
	dashed       string  // legends of dashed lines: all of one, or a regular expression between slashes
	queries      []query
}

func (g graph) panel() *panel {
	if g.width == 0 {
		g.width = 12
	}
	custom := object{
		"drawStyle": "line", "lineWidth": 1, "fillOpacity": 0, "showPoints": "never", "spanNulls": false,
		"stacking":          object{"mode": "none", "group": "A"},
		"scaleDistribution": object{"type": "linear"},
	}
	f := field{Unit: g.unit, Custom: custom}
	if g.log {
		custom["scaleDistribution"] = object{"type": "log", "log": 10}
	} else {
		f.Min = new(0.)
	}
	if g.full {
		f.Max = new(1.)
	}
	if g.stack {
		custom["stacking"] = object{"mode": "normal", "group": "A"}
		custom["fillOpacity"] = 30
	}
	if g.limit > 0 {
		good, bad := "transparent", "red"
		if g.below {
			good, bad = bad, good
		}
		f.Thresholds = thresholds(good, step{g.limit, bad})
		custom["thresholdsStyle"] = object{"mode": "line"}
	}
	p := &panel{
		Type: "timeseries", Title: g.title, Description: g.about, GridPos: gridPos{W: g.width, H: 8}, Datasource: chosen,
		Targets:     targets("time_series", g.queries...),
		FieldConfig: &fields{Defaults: f, Overrides: []object{}},
		Options: object{
			// Causes that did not occur stand at the end of the legend.
			"legend":  object{"displayMode": "table", "placement": "right", "showLegend": true, "calcs": []string{"lastNotNull", "max"}, "sortBy": "Max", "sortDesc": true},
			"tooltip": object{"mode": "multi", "sort": "desc"},
		},
	}
	if g.dashed != "" {
		p.FieldConfig.Overrides = append(p.FieldConfig.Overrides, object{
			"matcher": object{"id": "byRegexp", "options": g.dashed},
			"properties": []object{
				{"id": "custom.lineStyle", "value": object{"fill": "dash", "dash": []int{8, 8}}},
				{"id": "custom.stacking", "value": object{"mode": "none", "group": "B"}},
				{"id": "custom.fillOpacity", "value": 0},
			},
		})
	}
	return p
}

// A step is the colour of values from a bound on.
type step struct {
	from  float64
	color string
}

func thresholds(lowest string, steps ...step) object {
	all := []object{{"value": nil, "color": lowest}}
	for _, s := range steps {
		all = append(all, object{"value": s.from, "color": s.color})
	}
	return object{"mode": "absolute", "steps": all}
}

// A figure describes a panel of one number or word.
type figure struct {
	title, about string
	width        int // of 24
	unit         string
	none         string // stands for no value
	named        bool   // the names of the series that there are now are shown, instead of the last value there was
	mappings     []object
	thresholds   object
	query        query
}

func (g figure) panel() *panel {
	mode := "value"
	if g.named {
		mode = "name"
	}
	p := &panel{
		Type: "stat", Title: g.title, Description: g.about, GridPos: gridPos{W: g.width, H: 4}, Datasource: chosen,
		Targets:     targets("time_series", g.query),
		FieldConfig: &fields{Defaults: field{Unit: g.unit, NoValue: g.none, Mappings: g.mappings, Thresholds: g.thresholds}, Overrides: []object{}},
		Options: object{
			"reduceOptions": object{"calcs": []string{"lastNotNull"}, "fields": "", "values": false},
			"textMode":      mode, "colorMode": "value", "graphMode": "none", "justifyMode": "auto", "orientation": "auto",
		},
	}
	p.Targets[0].Instant, p.Targets[0].Range = g.named, !g.named
	return p
}

// table describes a panel of labels: one line a series, without its value.
func table(title, about string, width int, columns []string, q query) *panel {
	order := object{}
	for i, c := range columns {
		order[c] = i
	}
	p := &panel{
		Type: "table", Title: title, Description: about, GridPos: gridPos{W: width, H: 6}, Datasource: chosen,
		Targets:     targets("table", q),
		FieldConfig: &fields{Defaults: field{Custom: object{"align": "left"}}, Overrides: []object{}},
		Options:     object{"showHeader": true, "cellHeight": "sm"},
		Transformations: []object{
			{"id": "organize", "options": object{
				"excludeByName": object{"Time": true, "Value": true, "__name__": true}, "indexByName": order, "renameByName": object{},
			}},
		},
	}
	p.Targets[0].Instant, p.Targets[0].Range = true, false
	return p
}

// heatmap describes a panel of how many values each bucket got.
func heatmap(title, about, unit string, q query) *panel {
	return &panel{
		Type: "heatmap", Title: title, Description: about, GridPos: gridPos{W: 24, H: 9}, Datasource: chosen,
		Targets:     targets("heatmap", q),
		FieldConfig: &fields{Overrides: []object{}},
		Options: object{
			"calculate":    false,
			"cellGap":      1,
			"color":        object{"mode": "scheme", "scheme": "Oranges", "steps": 64, "reverse": false, "scale": "exponential", "exponent": 0.5, "fill": "dark-orange"},
			"exemplars":    object{"color": "rgba(255,0,255,0.7)"},
			"filterValues": object{"le": 1e-9},
			"legend":       object{"show": true},
			"rowsFrame":    object{"layout": "auto"},
			"tooltip":      object{"mode": "single", "yHistogram": true, "showColorScale": true},
			"yAxis":        object{"axisPlacement": "left", "reverse": false, "unit": unit},
		},
	}
}

// note describes a panel of text.
func note(title string, width int, text string) *panel {
	return &panel{
		Type: "text", Title: title, GridPos: gridPos{W: width, H: 6},
		Options: object{"mode": "markdown", "content": text},
	}
}

// A row is panels under a common head.
type row struct {
	title  string
	panels []*panel
}

// lay numbers panels and gives them places: from left to right, and in a new
// line where the width of the grid is used up.
func lay(rows []row) []*panel {
	var all []*panel
	y := 0
	put := func(p *panel, x int) {
		p.ID = len(all) + 1
		p.GridPos.X, p.GridPos.Y = x, y
		all = append(all, p)
	}
	for _, r := range rows {
		put(&panel{Type: "row", Title: r.title, GridPos: gridPos{W: 24, H: 1}, Collapsed: new(bool), Inside: []*panel{}}, 0)
		y++
		x, height := 0, 0
		for _, p := range r.panels {
			if x+p.GridPos.W > 24 {
				y += height
				x, height = 0, 0
			}
			put(p, x)
			x += p.GridPos.W
			height = max(height, p.GridPos.H)
		}
		y += height
	}
	return all
}
