package pacer

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestParseCatchUp(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   string
		want CatchUp
		text string // as printed
	}{
		{"2x", CatchUp{Factor: 2}, "2x"},
		{"1.5x", CatchUp{Factor: 1.5}, "1.5x"},
		{"10.0x", CatchUp{Factor: 10}, "10x"},
		{"burst", CatchUp{Burst: true}, "burst"},
		{"drop", CatchUp{Drop: true}, "drop"},
		{"drop=10ms", CatchUp{Drop: true, Bound: 10 * ms}, "drop=10ms"},
		{"drop=0.5", CatchUp{Drop: true, Bound: 500 * ms}, "drop=500ms"},
	} {
		got, err := ParseCatchUp(tt.in)
		if got != tt.want || err != nil {
			t.Errorf("ParseCatchUp(%q) = %+v, %v, want %+v", tt.in, got, err, tt.want)
		}
		if got.String() != tt.text {
			t.Errorf("%q prints as %q, want %q", tt.in, got, tt.text)
		}
		if again, err := ParseCatchUp(got.String()); again != got || err != nil {
			t.Errorf("ParseCatchUp(%q) = %+v, %v, want %+v", got, again, err, got)
		}
	}
	if got := (CatchUp{}).String(); got != "2x" {
		t.Errorf("the zero value prints as %q, want 2x", got)
	}
}

func TestParseCatchUpErrors(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":          "no x at the end",
		"2":         "no x at the end",
		"x":         "nothing there",
		"0x":        "factor of 0",
		"1x":        "factor 1: want one above 1",
		"0.5x":      "factor 0.5: want one above 1",
		"-2x":       "negative",
		"nanx":      "not a number",
		"infx":      "not a number",
		"1e400x":    "strconv.ParseFloat",
		"bursts":    "no x at the end",
		"drop=":     "nothing there",
		"drop=0":    "bound of 0",
		"drop=-1ms": "negative",
		"drop=2x":   "neither a number of seconds nor a duration",
	} {
		_, err := ParseCatchUp(in)
		if err == nil || !strings.HasPrefix(err.Error(), "pacer: catch-up \""+in+"\": "+want) || !strings.HasSuffix(err.Error(), ": want a factor above 1 such as 2x, burst, drop or drop=10ms") {
			t.Errorf("ParseCatchUp(%q): %v, want %s", in, err, want)
		}
	}
}

func TestNewReleasePanics(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		shards int
		c      CatchUp
	}{
		{"no shards", 0, CatchUp{}},
		{"factor 1", 1, CatchUp{Factor: 1}},
		{"NaN", 1, CatchUp{Factor: math.NaN()}},
		{"infinite", 1, CatchUp{Factor: math.Inf(1)}},
		{"both", 1, CatchUp{Burst: true, Drop: true}},
		{"negative bound", 1, CatchUp{Drop: true, Bound: -time.Second}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.HasPrefix(text, "pacer: ") {
					t.Errorf("panic %q, want one that names the package", text)
				}
			}()
			NewRelease(Constant{1, 1}, tt.shards, tt.c)
		})
	}
}
