package report

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed schema/*.json
var schemas embed.FS

// schemaNames are the embedded schemas.
var schemaNames = []string{"result-1", "window-1"}

// Schemas returns the names that Schema knows: "result-1" is a Result in JSON,
// "window-1" a line of NDJSON.
func Schemas() []string { return append([]string(nil), schemaNames...) }

// Schema returns a JSON Schema (draft 2020-12) by its name.
func Schema(name string) ([]byte, error) {
	for _, known := range schemaNames {
		if name == known {
			return schemas.ReadFile("schema/" + name + ".json")
		}
	}
	return nil, fmt.Errorf("report: schema %q: want one of %s", name, strings.Join(schemaNames, ", "))
}
