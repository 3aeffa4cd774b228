package dashboard

import (
	"bytes"
	"encoding/json"
)

// An object is a part of a dashboard that nothing here looks into.
type object map[string]any

// A board is a dashboard in Grafana's classic JSON model.
type board struct {
	UID           string     `json:"uid"`
	Title         string     `json:"title"`
	Description   string     `json:"description"`
	Tags          []string   `json:"tags"`
	SchemaVersion int        `json:"schemaVersion"`
	Editable      bool       `json:"editable"`
	GraphTooltip  int        `json:"graphTooltip"` // 1: one crosshair over all panels
	Refresh       string     `json:"refresh"`
	Time          object     `json:"time"`
	Annotations   object     `json:"annotations"`
	Templating    templating `json:"templating"`
	Panels        []*panel   `json:"panels"`
}

type templating struct {
	List []variable `json:"list"`
}

// A variable is a choice at the head of the dashboard.
type variable struct {
	Name       string  `json:"name"`
	Label      string  `json:"label"`
	Type       string  `json:"type"`
	Datasource *source `json:"datasource,omitempty"`
	Query      any     `json:"query"`
	Definition string  `json:"definition,omitempty"`
	Refresh    int     `json:"refresh"` // 1: on load, 2: also when the time range changes
	Sort       int     `json:"sort,omitempty"`
	Multi      bool    `json:"multi"`
	IncludeAll bool    `json:"includeAll"`
	AllValue   string  `json:"allValue,omitempty"`
	Current    object  `json:"current,omitempty"`
}

type source struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

// chosen is the data source that the dashboard's variable names.
var chosen = &source{"prometheus", "${datasource}"}

// A panel is one picture, or the head of a row of them.
type panel struct {
	ID              int      `json:"id"`
	Type            string   `json:"type"`
	Title           string   `json:"title"`
	Description     string   `json:"description,omitempty"`
	GridPos         gridPos  `json:"gridPos"`
	Datasource      *source  `json:"datasource,omitempty"`
	Targets         []target `json:"targets,omitempty"`
	FieldConfig     *fields  `json:"fieldConfig,omitempty"`
	Options         object   `json:"options,omitempty"`
	Transformations []object `json:"transformations,omitempty"`
	// The head of a row says that its panels follow it.
	Collapsed *bool    `json:"collapsed,omitempty"`
	Inside    []*panel `json:"panels,omitzero"`
}

// A gridPos is a place on a grid that is 24 wide.
type gridPos struct {
	H int `json:"h"`
	W int `json:"w"`
	X int `json:"x"`
	Y int `json:"y"`
}

// A target is a query of a panel.
type target struct {
	RefID        string  `json:"refId"`
	Datasource   *source `json:"datasource"`
	Expr         string  `json:"expr"`
	LegendFormat string  `json:"legendFormat"`
	Format       string  `json:"format"`
	Instant      bool    `json:"instant"`
	Range        bool    `json:"range"`
}

// fields say how values look.
type fields struct {
	Defaults  field    `json:"defaults"`
	Overrides []object `json:"overrides"`
}

type field struct {
	Unit       string   `json:"unit,omitempty"`
	Min        *float64 `json:"min,omitempty"`
	Max        *float64 `json:"max,omitempty"`
	NoValue    string   `json:"noValue,omitempty"`
	Mappings   []object `json:"mappings,omitempty"`
	Thresholds object   `json:"thresholds,omitempty"`
	Custom     object   `json:"custom,omitempty"`
}

// encode returns the JSON of b, the same at every call.
func (b *board) encode() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false) // the expressions are to be read
	e.SetIndent("", "  ")
	err := e.Encode(b)
	return out.Bytes(), err
}
