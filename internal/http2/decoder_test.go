package http2

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http2/hpack"
)

// decode reads a block, and lists its fields up to the first error.
func decode(d *decoder, b []byte) (list []string, ok bool) {
	b, ok = d.start(b)
	for ok && len(b) > 0 {
		var name, value []byte
		if name, value, b, ok = d.next(b); ok {
			list = append(list, fmt.Sprintf("%s: %s", name, value))
		}
	}
	return list, ok
}

// reference reads blocks with golang.org/x/net.
type reference struct {
	*hpack.Decoder
	list []string
}

func newReference() *reference {
	r := &reference{}
	r.Decoder = hpack.NewDecoder(tableSize, func(f hpack.HeaderField) { r.list = append(r.list, f.Name+": "+f.Value) })
	return r
}

func (r *reference) decode(b []byte) (list []string, err error) {
	r.list = nil
	_, err = r.Write(b)
	if err == nil {
		err = r.Close()
	}
	return r.list, err
}

// TestDecoder reads the blocks of an encoder that uses its table to the full.
func TestDecoder(t *testing.T) {
	t.Parallel()
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	var d decoder
	d.reset()
	seen := map[bool]int{}
	for i := range 1500 {
		block.Reset()
		switch i % 500 {
		case 300:
			enc.SetMaxDynamicTableSize(uint32(i % 3 * 300))
		case 400:
			enc.SetMaxDynamicTableSize(tableSize)
		}
		var want []string
		for _, f := range []hpack.HeaderField{
			{Name: ":status", Value: "200"},
			{Name: "date", Value: fmt.Sprint("day ", i/3)},
			{Name: fmt.Sprint("x-", i%7), Value: strings.Repeat("v", i*i%900)},
			{Name: "etag", Value: "\x00\xff", Sensitive: i%2 == 0},
			{Name: fmt.Sprint("x-", i%11), Value: strings.Repeat("\x7f", i*i%5000)},
		} {
			if err := enc.WriteField(f); err != nil {
				t.Fatal(err)
			}
			want = append(want, f.Name+": "+f.Value)
		}
		got, ok := decode(&d, block.Bytes())
		if !ok || !slices.Equal(got, want) {
			t.Fatalf("block %d: %q, ok %v, want %q", i, got, ok, want)
		}
		if d.size > d.max || cap(d.text) > 3*tableSize || cap(d.entries) > 4*tableSize/entryOverhead {
			t.Fatalf("block %d: table of %d, want at most %d, in buffers of %d bytes and %d entries", i, d.size, d.max, cap(d.text), cap(d.entries))
		}
		seen[d.first > 0]++
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("tables with and without evicted entries: %v, want both", seen)
	}
}

func TestDecoderErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		in   string
		ok   bool
	}{
		{"nothing", "", true},
		{"two sizes", "\x20\x3f\xe1\x1f\x88", true},
		{"size too large", "\x3f\xe2\x1f", false},
		{"size cut", "\x3f", false},
		{"size behind a field", "\x88\x20", false},
		{"index 0", "\x80", false},
		{"index beyond the table", "\xbe", false},
		{"index cut", "\xff", false},
		{"index too large", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", false},
		{"name index beyond the table", "\x7e\x01x", false},
		{"name index cut", "\x7f", false},
		{"name cut", "\x40", false},
		{"name without value", "\x40\x01a", false},
		{"value cut", "\x40\x01a\x02b", false},
		{"value length too large", "\x40\x01a\x7f\xff\xff\xff\xff\xff\xff\xff\x7f", false},
		{"Huffman padding of zeros", "\x40\x01a\x81\x00", false},
		{"never indexed", "\x10\x01a\x01b", true},
		{"name of the entry that is evicted", "\x3f\x03\x40\x01a\x01b\x7e\x01c\xbe", true},
		{"entry larger than the table", "\x3f\x03\x40\x01a\x01b\x40\x02aa\x01b\xbe", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var d decoder
			d.reset()
			if got, ok := decode(&d, []byte(tt.in)); ok != tt.ok {
				t.Errorf("decode(%q) = %q, ok %v, want %v", tt.in, got, ok, tt.ok)
			}
		})
	}
}

// FuzzDecoder compares the decoder with that of golang.org/x/net, over two
// blocks of a connection.
func FuzzDecoder(f *testing.F) {
	s := newServer()
	f.Add(s.fields(":status", "200", "x", "y"), s.fields(":status", "200", "x", "y", "date", "today"))
	f.Add([]byte("\x3f\x03\x40\x01a\x01b\x7e\x01c\xbe"), []byte("\x20\x88"))
	f.Add([]byte("\x20\x3f\xe1\x1f\x88"), []byte("\x40\x01a\x81\x00"))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		var d decoder
		d.reset()
		ref := newReference()
		for _, b := range [][]byte{one, two} {
			got, ok := decode(&d, b)
			want, err := ref.decode(b)
			if ok != (err == nil) {
				// The other one takes a change of the table's size behind a field
				// while the table is empty, and no second one while it is not.
				if ok && strings.Contains(err.Error(), "MUST occur at the beginning") || !ok && misplaced(b) {
					return
				}
				t.Fatalf("%q: %q, ok %v, want %q, error %v", b, got, ok, want, err)
			}
			if ok && !slices.Equal(got, want) {
				t.Fatalf("%q: %q, want %q", b, got, want)
			}
			if !ok {
				return
			}
		}
	})
}

// misplaced reports whether a block that is valid otherwise changes the table's
// size behind a field.
func misplaced(b []byte) bool {
	var d decoder
	d.reset()
	b, ok := d.start(b)
	for ok && len(b) > 0 {
		if b[0]&0xe0 == 0x20 {
			return true
		}
		_, _, b, ok = d.next(b)
	}
	return false
}
