package script

import "testing"

func TestBodiesBound(t *testing.T) {
	t.Parallel()
	b := newBodies("f", fakeFiles(map[string]string{"a": "1", "b": "2"}))
	b.size = maxBodies - 1
	if body, err := b.get("a"); err != nil || string(body) != "1" {
		t.Errorf("the last byte: %q, %v", body, err)
	}
	_, err := b.get("b")
	wantError(t, "b", err, `body file "b" is one too many: want no more than 1024 MiB in all`)
	if body, err := b.get("a"); err != nil || string(body) != "1" {
		t.Errorf("the last byte again: %q, %v", body, err)
	}
}
