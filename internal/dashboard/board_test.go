package dashboard

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// eachBoard calls test with the dashboards as they are written.
func eachBoard(t *testing.T, test func(t *testing.T, k kind, b *board)) {
	t.Helper()
	for _, k := range []kind{classic, native} {
		t.Run(k.uid, func(t *testing.T) {
			t.Parallel()
			test(t, k, readBoard(t, k))
		})
	}
}

func readBoard(t *testing.T, k kind) *board {
	t.Helper()
	var b board
	if err := json.Unmarshal(mustFiles(t)["dashboards/"+k.uid+".json"], &b); err != nil {
		t.Fatal(err)
	}
	return &b
}

func TestPanels(t *testing.T) {
	t.Parallel()
	eachBoard(t, func(t *testing.T, k kind, b *board) {
		if b.UID != k.uid || b.SchemaVersion == 0 || len(b.Panels) < 30 {
			t.Errorf("uid %q, schema %d, %d panels", b.UID, b.SchemaVersion, len(b.Panels))
		}
		ids := map[int]bool{}
		taken := map[[2]int]string{}
		for _, p := range b.Panels {
			if p.ID < 1 || ids[p.ID] {
				t.Errorf("%s: id %d is not a new one above 0", p.Title, p.ID)
			}
			ids[p.ID] = true
			if p.Title == "" {
				t.Errorf("panel %d has no title", p.ID)
			}
			g := p.GridPos
			if g.W < 1 || g.H < 1 || g.X < 0 || g.X+g.W > 24 {
				t.Errorf("%s: %+v is not on a grid of 24", p.Title, g)
			}
			for x := g.X; x < g.X+g.W; x++ {
				for y := g.Y; y < g.Y+g.H; y++ {
					if other, ok := taken[[2]int{x, y}]; ok {
						t.Fatalf("%s and %s overlap", p.Title, other)
					}
					taken[[2]int{x, y}] = p.Title
				}
			}
			switch p.Type {
			case "row", "text":
				if len(p.Targets) > 0 {
					t.Errorf("%s: %d queries in a %s", p.Title, len(p.Targets), p.Type)
				}
				continue
			case "timeseries":
				if p.FieldConfig.Defaults.Unit == "" {
					t.Errorf("%s has no unit", p.Title)
				}
			}
			if len(p.Targets) == 0 {
				t.Errorf("%s has no query", p.Title)
			}
			refs := map[string]bool{}
			for _, q := range p.Targets {
				if refs[q.RefID] || *q.Datasource != *chosen || q.Instant == q.Range {
					t.Errorf("%s: query %q: %+v", p.Title, q.RefID, q)
				}
				refs[q.RefID] = true
			}
		}
		if got := (gridPos{H: 1, W: 24}); b.Panels[0].GridPos != got {
			t.Errorf("the first row is at %+v", b.Panels[0].GridPos)
		}
	})
}

func TestPercentilesHaveALogAxis(t *testing.T) {
	t.Parallel()
	eachBoard(t, func(t *testing.T, k kind, b *board) {
		n := 0
		for _, p := range b.Panels {
			if p.Type != "timeseries" || !strings.HasPrefix(p.Targets[0].Expr, "histogram_quantile") {
				continue
			}
			n++
			scale, _ := p.FieldConfig.Defaults.Custom["scaleDistribution"].(map[string]any)
			if scale["type"] != "log" || p.FieldConfig.Defaults.Unit != "s" {
				t.Errorf("%s: scale %v, unit %q, want log and s", p.Title, scale, p.FieldConfig.Defaults.Unit)
			}
		}
		if n != 4 {
			t.Errorf("%d panels of percentiles, want 4", n)
		}
	})
}

// All variables that are used must be there, and all that are there be used.
func TestVariables(t *testing.T) {
	t.Parallel()
	variable := regexp.MustCompile(`\$\{?(\w+)`)
	eachBoard(t, func(t *testing.T, _ kind, b *board) {
		used := map[string]bool{}
		for _, m := range variable.FindAllStringSubmatch(string(mustFiles(t)["dashboards/"+b.UID+".json"]), -1) {
			if !strings.HasPrefix(m[1], "__") {
				used[m[1]] = true
			}
		}
		var names []string
		for _, v := range b.Templating.List {
			if !used[v.Name] {
				t.Errorf("variable %q is not used", v.Name)
			}
			delete(used, v.Name)
			names = append(names, v.Name)
		}
		if len(used) > 0 {
			t.Errorf("used without being a variable: %v", used)
		}
		if want := []string{"datasource", "job", "instance", "run_id", "client", "target"}; !slices.Equal(names, want) {
			t.Errorf("variables %q, want %q", names, want)
		}
	})
}

// Both dashboards have the same panels.
func TestOneSource(t *testing.T) {
	t.Parallel()
	shape := func(b *board) (all []string) {
		for _, p := range b.Panels {
			all = append(all, fmt.Sprint(p.ID, p.Type, p.Title, p.GridPos, len(p.Targets)))
		}
		return all
	}
	if a, b := shape(readBoard(t, classic)), shape(readBoard(t, native)); !slices.Equal(a, b) {
		t.Errorf("classic: %q\nnative: %q", a, b)
	}
	if s := string(mustFiles(t)["dashboards/httpgen-native.json"]); strings.Contains(s, "_bucket") {
		t.Error("the native dashboard asks for classic buckets")
	}
}

// What is asked for must be shown by the collectors.
func TestNames(t *testing.T) {
	t.Parallel()
	known := newEndpoint(t).names(t)
	name := regexp.MustCompile(`\b(httpgen|process|go)_[a-z0-9_]+`)
	for file, content := range mustFiles(t) {
		if file == "tests.yml" {
			continue // it has only what the rules ask for, or else it fails
		}
		found := name.FindAllString(string(content), -1)
		for _, n := range found {
			// With a colon before it, it is part of the name of a recorded series.
			if !known[n] && !strings.Contains(string(content), ":"+n+":") {
				t.Errorf("%s asks for %s, which nothing shows", file, n)
			}
		}
		if len(found) == 0 && !strings.HasPrefix(file, "provisioning/") && file != "scrape.yml" {
			t.Errorf("%s asks for nothing", file)
		}
	}
}
