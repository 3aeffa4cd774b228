package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"httpgen/internal/experiment"
	"httpgen/internal/report"
)

// A savedArm is an arm made of results in files. Without a name it goes by that
// of its file.
type savedArm struct {
	name  string
	files []string
}

// A saved is what a file holds: one of its fields.
type saved struct {
	result  *report.Result
	compare *experiment.CompareResult
}

// parseSaved reads a result in JSON.
func parseSaved(content []byte) (s saved, err error) {
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(content, &head); err != nil {
		return s, fmt.Errorf("%w: want a result in JSON", err)
	}
	switch head.Schema {
	case report.ResultSchema:
		s.result = &report.Result{}
		err = json.Unmarshal(content, s.result)
	case experiment.CompareSchema:
		s.compare = &experiment.CompareResult{}
		err = json.Unmarshal(content, s.compare)
	default:
		err = fmt.Errorf("schema %q: want %s or %s", head.Schema, report.ResultSchema, experiment.CompareSchema)
	}
	return s, err
}

// again compares what was saved: results that were measured apart, or the trials
// of one comparison. What o leaves zero is as that comparison had it.
func again(arms []savedArm, o experiment.CompareOptions) (*experiment.CompareResult, error) {
	var all []experiment.Saved
	for _, a := range arms {
		one := experiment.Saved{Name: cmp.Or(a.name, strings.TrimSuffix(filepath.Base(a.files[0]), ".json"))}
		for _, file := range a.files {
			content, err := readFile(file)
			if err != nil {
				return nil, err
			}
			s, err := parseSaved(content)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			if s.compare != nil {
				if len(arms) > 1 || len(a.files) > 1 || a.name != "" {
					return nil, fmt.Errorf("%s: a comparison among results: want it alone", file)
				}
				return reconsider(s.compare, o)
			}
			one.Results = append(one.Results, s.result)
		}
		all = append(all, one)
	}
	if o.Equivalence > 0 || o.Ordered {
		return nil, errors.New("--equivalence or --ordered with results that were measured apart: these want blocks, as a comparison has them")
	}
	return experiment.CompareSaved(all, o)
}

// reconsider analyses a comparison again, with another question where o has one.
func reconsider(r *experiment.CompareResult, o experiment.CompareOptions) (*experiment.CompareResult, error) {
	p := &r.Plan
	r.Baseline, r.Metric = cmp.Or(o.Baseline, r.Baseline), cmp.Or(o.Metric, r.Metric)
	p.Level, p.Equivalence, p.Ordered = cmp.Or(o.Level, p.Level), cmp.Or(o.Equivalence, p.Equivalence), o.Ordered || p.Ordered
	if o.Gate {
		p.Allow, p.Gate = o.Allow, true
	}
	return experiment.Recompare(r)
}
