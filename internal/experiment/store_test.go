package experiment

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is read back may hold anything: it is judged or refused.
func FuzzKeptTrial(f *testing.F) {
	kept, err := json.Marshal(Trial{ID: 1, Phase: "climb", RatePerSecond: 100, Result: newCalls(f, 1e9, 1e8).result()})
	if err != nil {
		f.Fatal(err)
	}
	c := newCalls(f, 1e9, 1e8)
	c.reply(0.1, 0.01)
	text := c.result().Times.Latency.HDR
	f.Add(string(kept), text)
	f.Add(`{"id":1,"result":{"totals":{"arrivals":{"scheduled":1,"shed":{"late":18446744073709551615}}},"windows":[{"length_seconds":-1}]}}`, "HISTFAAAAA==")
	f.Add(`{"id":1,"result":{"times":{"latency_all_arrivals":{"count":18446744073709551615,"failed":1}}}}`, text[:len(text)/2])
	o := parseObjective(f, "p99<50ms,errors<0.1%,achieved>99%,goodput>1")
	f.Fuzz(func(t *testing.T, doc, hdr string) {
		var k Trial
		if json.Unmarshal([]byte(doc), &k) != nil || k.Result == nil {
			return
		}
		k.Result.Times.Latency.HDR = hdr
		if j, err := o.Judge(k.Result); err == nil && j.Outcome > 3 {
			t.Errorf("outcome %v", j.Outcome)
		}
		if err := WriteCSV(io.Discard, []Trial{k}); err != nil {
			t.Error(err)
		}
	})
}

func TestStoreRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := OpenStore(dir, Key{}); err == nil || !strings.Contains(err.Error(), "plan.json") {
		t.Errorf("error %v, want one about plan.json", err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewStore(file, Key{}); err == nil || !strings.Contains(err.Error(), "file") {
		t.Errorf("error %v, want one about a file", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plan.json"), []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(dir, Key{}); err == nil || !strings.Contains(err.Error(), "plan.json") {
		t.Errorf("error %v, want one about plan.json", err)
	}
	// What cannot be written is no trial: nothing is left behind.
	store, err := NewStore(filepath.Join(dir, "kept"), Key{Kind: "sweep"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(store.dir); err != nil {
		t.Fatal(err)
	}
	if err := store.save(&Trial{ID: 1}); err == nil {
		t.Error("a trial is kept in a folder that is gone")
	}
	if _, err := newKey("sweep", func() {}); err == nil {
		t.Error("a key is made of what cannot be written")
	}
}

// newStore returns a store for an experiment, its key and its folder.
func newStore(t *testing.T, o interface{ Key() (Key, error) }) (*Store, Key, string) {
	t.Helper()
	key, err := o.Key()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "kept")
	store, err := NewStore(dir, key)
	if err != nil {
		t.Fatal(err)
	}
	return store, key, dir
}
