package experiment

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed schema/*.json
var schemas embed.FS

// schemaNames are the embedded schemas.
var schemaNames = []string{"sweep-1", "compare-1", "fair-1"}

// Schemas returns the names that Schema knows.
func Schemas() []string { return slices.Clone(schemaNames) }

// Schema returns the JSON Schema (draft 2020-12) of a result by its name. It
// refers to package report's result-1.
func Schema(name string) ([]byte, error) {
	if !slices.Contains(schemaNames, name) {
		return nil, fmt.Errorf("experiment: schema %q: want one of %s", name, strings.Join(schemaNames, ", "))
	}
	return schemas.ReadFile("schema/" + name + ".json")
}
