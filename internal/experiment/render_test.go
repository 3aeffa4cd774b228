package experiment

import (
	"bytes"
	"encoding/csv"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// golden compares text with a file; UPDATE=1 rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n%s", file, got)
	}
}

// sampleSweep is the result of a sweep with an overload profile.
func sampleSweep(t *testing.T) *SweepResult {
	o := sweepOptions(t)
	o.Beyond, o.Step = 3, 6*time.Second
	r := sweepOf(t, Lab{Runner: &machine{t: t, capacity: 200}}, o)
	r.Trials[3].Counters = &Counters{ListenOverflows: 12, SYNRetransmits: 3}
	return r
}

func sampleLadder(t *testing.T) *SweepResult {
	o := sweepOptions(t)
	o.Objective, o.Connections, o.Search.From = parseObjective(t, "errors<0.1%"), true, 10
	return sweepOf(t, Lab{Runner: &machine{t: t, capacity: 20000}}, o)
}

func sampleLimited(t *testing.T) *SweepResult {
	return sweepOf(t, Lab{Runner: &machine{t: t, capacity: 1000, most: 250}}, sweepOptions(t))
}

func sampleCompare(t *testing.T) *CompareResult {
	all := arms("base", "same", "slow")
	for i := range all {
		var used time.Duration
		all[i].CPU = func() (time.Duration, error) { used += 100 * time.Millisecond; return used, nil }
	}
	return compareOf(t, Lab{Runner: newStages(t, 0.05, 0.01, 0.01, 0.013)}, CompareOptions{
		Arms: all, Rate: 200, Equivalence: 0.05, Allow: 0.1, Gate: true, Ordered: true, AA: true, Blocks: 20,
	})
}

func sampleFair(t *testing.T) *FairResult {
	clients := sharers(500, 500, 500)
	clients[2].Join = 10 * time.Second
	return fairOf(t, &well{t: t, capacity: 400, weights: map[string]float64{"a": 1, "b": 3, "c": 6}, noise: 0.05, late: 2 * time.Second},
		FairOptions{Clients: clients, Baseline: true})
}

func TestText(t *testing.T) {
	t.Parallel()
	text := func(write func(*bytes.Buffer) error) string {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	sweep, ladder, limited, compare, fair := sampleSweep(t), sampleLadder(t), sampleLimited(t), sampleCompare(t), sampleFair(t)
	golden(t, "sweep.txt", text(func(b *bytes.Buffer) error { return sweep.Text(b) }))
	golden(t, "ladder.txt", text(func(b *bytes.Buffer) error { return ladder.Text(b) }))
	golden(t, "limited.txt", text(func(b *bytes.Buffer) error { return limited.Text(b) }))
	golden(t, "compare.txt", text(func(b *bytes.Buffer) error { return compare.Text(b) }))
	golden(t, "unpaired.txt", text(func(b *bytes.Buffer) error { return sampleUnpaired(t).Text(b) }))
	golden(t, "fair.txt", text(func(b *bytes.Buffer) error { return fair.Text(b) }))
	golden(t, "fair.csv", text(func(b *bytes.Buffer) error { return WriteCSV(b, fair.Trials) }))

	if err := sweep.Text(full{}); !errors.Is(err, errBroken) {
		t.Errorf("error %v, want %v", err, errBroken)
	}
	if err := WriteCSV(full{}, sweep.Trials); !errors.Is(err, errBroken) {
		t.Errorf("error %v, want %v", err, errBroken)
	}
	if err := WriteJSON(full{}, sweep); !errors.Is(err, errBroken) {
		t.Errorf("error %v, want %v", err, errBroken)
	}
	rows, err := csv.NewReader(strings.NewReader(text(func(b *bytes.Buffer) error { return WriteCSV(b, sweep.Trials) }))).ReadAll()
	if err != nil || len(rows) != len(sweep.Trials)+1 || rows[1][5] != "50" || rows[1][7] != "met" {
		t.Errorf("%d rows, error %v", len(rows), err)
	}
}

// full is a disk that has no room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errBroken }

func TestShort(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   float64
		want string
	}{{0, "0.000"}, {0.01234, "0.012"}, {1.23456, "1.235"}, {12.3456, "12.35"}, {123.456, "123.5"}, {1234.56, "1235"}, {123456.7, "123457"}, {-12.3456, "-12.35"}} {
		if got := short(tt.in); got != tt.want {
			t.Errorf("short(%g) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestBars(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ got, want string }{
		{bar(0), "|" + strings.Repeat(" ", 24) + "|"}, {bar(0.001), "|#" + strings.Repeat(" ", 23) + "|"}, {bar(2), "|" + strings.Repeat("#", 24) + "|"},
		{logBar(nil, 1, 2), "|" + strings.Repeat("#", 24) + ">"}, {logBar(new(2.0), 2, 2), "|" + strings.Repeat("#", 12) + strings.Repeat(" ", 12) + "|"},
		{logBar(new(0.0), 1, 2), bar(0)}, {logBar(new(2.0), 1, 2), bar(1)},
		{(&Effect{}).plot(), "|            :            |"},
		{(&Effect{Ratio: new(math.Sqrt2), Low: new(1.0), High: new(2.0)}).plot(), "|            ------o------|"},
		{(&Effect{Ratio: new(8.0), Low: new(4.0)}).plot(), "|            :           o|"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %s, want %s", tt.got, tt.want)
		}
	}
}
