package sampler

import (
	"reflect"
	"strings"
	"testing"
)

// fill gives every counter of t another value.
func fill(t *Tally) {
	n := uint64(1)
	v := reflect.ValueOf(t).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		if f.Kind() != reflect.Array {
			f.SetUint(n)
			n++
			continue
		}
		for k := range f.Len() {
			f.Index(k).SetUint(n)
			n++
		}
	}
}

func TestTallyMergeAddsEveryCounter(t *testing.T) {
	t.Parallel()
	var from, into Tally
	fill(&from)
	into.Merge(&from)
	if into != from {
		t.Errorf("merged into an empty tally: got %+v, want %+v", into, from)
	}
	into.Merge(&from)
	v, w := reflect.ValueOf(into), reflect.ValueOf(from)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if v.Field(i).Kind() != reflect.Array {
			if got, want := v.Field(i).Uint(), 2*w.Field(i).Uint(); got != want {
				t.Errorf("%s is %d after two merges, want %d", name, got, want)
			}
			continue
		}
		for k := range v.Field(i).Len() {
			if got, want := v.Field(i).Index(k).Uint(), 2*w.Field(i).Index(k).Uint(); got != want {
				t.Errorf("%s[%d] is %d after two merges, want %d", name, k, got, want)
			}
		}
	}
}

// balanced returns a tally whose identities hold.
func balanced() Tally {
	t := Tally{
		Scheduled: 110, Started: 100, Unfinished: 5,
		Planned: 300, Replied: 250, Unanswered: 20, Unsent: 18, UnfinishedCalls: 12, Replies: 250,
	}
	t.Shed[ShedLate], t.Shed[ShedInflight] = 7, 3
	t.Outcomes[OK], t.Outcomes[Reset] = 90, 5
	t.Codes[200], t.Codes[503] = 240, 10
	return t
}

func TestTallyCheck(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		spoil func(*Tally)
		want  []string // how the messages begin
	}{
		{"balanced", func(*Tally) {}, nil},
		{"empty", func(t *Tally) { *t = Tally{} }, nil},
		{"one scheduled too many", func(t *Tally) { t.Scheduled++ }, []string{"scheduled ="}},
		{"one shed too many", func(t *Tally) { t.Shed[ShedStopped]++ }, []string{"scheduled ="}},
		{"one started too many", func(t *Tally) { t.Started++ }, []string{"scheduled =", "started ="}},
		{"one completed too few", func(t *Tally) { t.Outcomes[OK]-- }, []string{"started ="}},
		{"one error too many", func(t *Tally) { t.Outcomes[Other]++ }, []string{"started ="}},
		{"one unfinished too few", func(t *Tally) { t.Unfinished-- }, []string{"started ="}},
		{"one call too many", func(t *Tally) { t.Planned++ }, []string{"calls planned ="}},
		{"one unanswered too many", func(t *Tally) { t.Unanswered++ }, []string{"calls planned ="}},
		{"one unsent too few", func(t *Tally) { t.Unsent-- }, []string{"calls planned ="}},
		{"one unfinished call too many", func(t *Tally) { t.UnfinishedCalls++ }, []string{"calls planned ="}},
		{"one replied too many", func(t *Tally) { t.Replied++ }, []string{"calls planned =", "calls replied ="}},
		{"one reply too many", func(t *Tally) { t.Replies++ }, []string{"calls replied =", "replies ="}},
		{"one code too few", func(t *Tally) { t.Codes[503]-- }, []string{"replies ="}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tally := balanced()
			tt.spoil(&tally)
			got := tally.Check()
			if len(got) != len(tt.want) {
				t.Fatalf("Check() = %q, want %d sentences", got, len(tt.want))
			}
			for i, want := range tt.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("sentence %d is %q, want one on %q", i, got[i], want)
				}
			}
		})
	}
}

func TestTallySums(t *testing.T) {
	t.Parallel()
	tally := balanced()
	tally.Codes = [1000]uint64{42: 1, 100: 2, 199: 3, 200: 5, 299: 7, 300: 11, 404: 13, 599: 17, 600: 19, 999: 23}
	tally.Interim = 29
	for digit, want := range []uint64{1 + 19 + 23, 2 + 3 + 29, 5 + 7, 11, 13, 17} {
		if got := tally.Status(digit); got != want {
			t.Errorf("Status(%d) = %d, want %d", digit, got, want)
		}
	}
	if got := tally.Completed(); got != 90 {
		t.Errorf("Completed() = %d, want 90", got)
	}
	if got := tally.Errors(); got != 5 {
		t.Errorf("Errors() = %d, want 5", got)
	}
	if got := tally.ShedTotal(); got != 10 {
		t.Errorf("ShedTotal() = %d, want 10", got)
	}
}
