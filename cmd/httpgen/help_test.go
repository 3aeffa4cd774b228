package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// Rewrite the goldens with UPDATE=1 go test.
func TestHelp(t *testing.T) {
	t.Setenv("COLUMNS", "100")
	for command := range usage {
		t.Run(command, func(t *testing.T) {
			_, have, _ := call("httpgen", command, "--help")
			golden := filepath.Join("testdata", "help-"+command+".golden")
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(golden, []byte(have), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if have != string(want) {
				t.Errorf("the help is not that of %s:\n%s", golden, have)
			}
		})
	}
}

// All flags are in a group and say in a sentence what they do.
func TestHelpIsComplete(t *testing.T) {
	t.Parallel()
	_, k := newGrammar()
	for _, n := range k.Model.Children {
		for _, f := range n.Flags {
			if f.Group == nil || !strings.HasSuffix(f.Help, ".") {
				t.Errorf("%s --%s: group %v, help %q; want a group and a sentence", n.Name, f.Name, f.Group, f.Help)
			}
		}
	}
}

func TestRevision(t *testing.T) {
	t.Parallel()
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}
	for _, tt := range []struct {
		name string
		info *debug.BuildInfo
		want string
	}{
		{"none", nil, ""},
		{"no vcs", &debug.BuildInfo{}, ""},
		{"clean", &debug.BuildInfo{Settings: []debug.BuildSetting{commit, {Key: "vcs.modified", Value: "false"}}}, ", 0123456789ab"},
		{"changed", &debug.BuildInfo{Settings: []debug.BuildSetting{commit, {Key: "vcs.modified", Value: "true"}}}, ", 0123456789ab+changes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if have := revision(tt.info); have != tt.want {
				t.Errorf("have %q, want %q", have, tt.want)
			}
		})
	}
}
