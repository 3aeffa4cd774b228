package experiment

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestParseProcess(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in     string
		parent int
		own    time.Duration
		ended  time.Duration
		ok     bool
	}{
		{"12 (a) b) (c) S 7 1 1 0 -1 4194304 1 0 0 0 100 20 3 4 20 0 1", 7, 1200 * time.Millisecond, 70 * time.Millisecond, true},
		{"12 (a) S 7 1 1 0 -1 4194304 1 0 0 0 100 20 3", 0, 0, 0, false},
		{"12 (a) S x 1 1 0 -1 4194304 1 0 0 0 100 20 3 4", 0, 0, 0, false},
		{"12 (a) S 7 1 1 0 -1 4194304 1 0 0 0 100 20 -3 4", 0, 0, 0, false},
		{"", 0, 0, 0, false},
	} {
		if parent, own, ended, ok := parseProcess(tt.in); parent != tt.parent || own != tt.own || ended != tt.ended || ok != tt.ok {
			t.Errorf("%q: parent %d, %v, %v, %v; want %d, %v, %v, %v", tt.in, parent, own, ended, ok, tt.parent, tt.own, tt.ended, tt.ok)
		}
	}
}

func TestFamilyTime(t *testing.T) {
	t.Parallel()
	parents := map[int]int{10: 1, 11: 10, 12: 11, 20: 1, 30: 31, 31: 30}
	used := map[int]time.Duration{10: 1, 11: 2, 12: 4, 20: 8, 30: 16, 31: 32}
	if got := familyTime(10, parents, used); got != 7 {
		t.Errorf("process 10 and its descendants used %d, want 7", got)
	}
	if got := familyTime(31, parents, used); got != 48 {
		t.Errorf("two that are each other's parents used %d, want 48", got)
	}
}

func TestProcessCPU(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	before, err := ProcessCPU(os.Getpid())
	if err != nil || before <= 0 {
		t.Errorf("%v, error %v", before, err)
	}
	// What is used is seen, however little.
	for after := before; after == before; {
		if after, err = ProcessCPU(os.Getpid()); err != nil || after < before {
			t.Fatalf("%v after %v, error %v", after, before, err)
		}
	}
	if exact, ok := processClock(os.Getpid()); !ok || exact <= 0 || exact%(time.Second/ticks) == 0 {
		t.Errorf("the clock says %v, %v: want it finer than ticks", exact, ok)
	}
	if _, err := ProcessCPU(-1); err == nil || !strings.Contains(err.Error(), "process -1") {
		t.Errorf("error %v, want one about process -1", err)
	}
}
