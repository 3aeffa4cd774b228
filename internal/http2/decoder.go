package http2

import (
	"fmt"

	"golang.org/x/net/http2/hpack"
)

const (
	tableSize     = 4096 // of the dynamic table at most, the protocol's default (RFC 9113, 6.5.2)
	entryOverhead = 32   // what an entry takes beside its text (RFC 7541, 4.1)
	staticEntries = 61   // RFC 7541, appendix A
)

// A static is an entry of the static table.
type static struct{ name, value []byte }

// staticTable is indexed from 1, as on the wire.
var staticTable = func() (t [staticEntries + 1]static) {
	var f hpack.HeaderField
	d := hpack.NewDecoder(0, func(g hpack.HeaderField) { f = g })
	for i := 1; i < len(t); i++ {
		if _, err := d.Write([]byte{0x80 | byte(i)}); err != nil {
			panic(fmt.Sprintf("http2: static table entry %d: %v", i, err))
		}
		t[i] = static{[]byte(f.Name), []byte(f.Value)}
	}
	return t
}()

// A decoder reads the field blocks of one connection (RFC 7541). The zero value
// must be reset first.
type decoder struct {
	text    []byte  // of the entries, oldest first
	entries []entry // oldest first
	first   int     // the entries before it are evicted
	size    int     // of the entries, as the protocol counts
	max     int     // that the peer chose for size
	scratch scratch // what the field returned last needed decoded or kept
}

// An entry is the place of a field in a decoder's text. The table's size bounds
// each number.
type entry struct{ at, name, value uint16 }

func (e entry) size() int { return int(e.name) + int(e.value) + entryOverhead }

// A scratch is a buffer to write to.
type scratch []byte

func (s *scratch) Write(p []byte) (int, error) {
	*s = append(*s, p...)
	return len(p), nil
}

// reset prepares for another connection.
func (d *decoder) reset() {
	d.clear()
	d.max = tableSize
}

func (d *decoder) clear() {
	d.text, d.entries, d.first, d.size = d.text[:0], d.entries[:0], 0, 0
}

// start applies the changes of the table's size with which a block may begin
// and returns the fields that follow. ok is false when the block is invalid.
func (d *decoder) start(b []byte) (fields []byte, ok bool) {
	for len(b) > 0 && b[0]&0xe0 == 0x20 {
		var max uint64
		if max, b, ok = readInt(b, 5); !ok || max > tableSize {
			return nil, false
		}
		d.max = int(max)
		d.evict(d.max)
	}
	return b, true
}

// next reads the field with which b, not empty, begins. name and value are valid
// until the decoder is used again and must not be changed. ok is false when the
// block is invalid.
func (d *decoder) next(b []byte) (name, value, rest []byte, ok bool) {
	var index uint64
	insert := false
	switch c := b[0]; {
	case c&0x80 != 0: // indexed field
		if index, rest, ok = readInt(b, 7); !ok {
			return nil, nil, nil, false
		}
		name, value, ok = d.at(index)
		return name, value, rest, ok
	case c&0x40 != 0: // literal, to be inserted
		insert = true
		index, rest, ok = readInt(b, 6)
	case c&0x20 != 0: // change of the table's size, which belongs at the start
		return nil, nil, nil, false
	default: // literal, not or never to be inserted
		index, rest, ok = readInt(b, 4)
	}
	if !ok {
		return nil, nil, nil, false
	}
	d.scratch = d.scratch[:0]
	if index == 0 {
		name, rest, ok = d.readString(rest)
	} else if name, _, ok = d.at(index); index > staticEntries {
		// The insertion may evict or move the entry that the name comes from.
		d.scratch = append(d.scratch, name...)
		name = d.scratch
	}
	if !ok {
		return nil, nil, nil, false
	}
	if value, rest, ok = d.readString(rest); !ok {
		return nil, nil, nil, false
	}
	if insert {
		d.insert(name, value)
	}
	return name, value, rest, true
}

// at returns the entry of an index, which counts the static table first and then
// the dynamic one from its newest entry.
func (d *decoder) at(index uint64) (name, value []byte, ok bool) {
	if index == 0 || index > uint64(staticEntries+len(d.entries)-d.first) {
		return nil, nil, false
	}
	if index <= staticEntries {
		s := &staticTable[index]
		return s.name, s.value, true
	}
	e := d.entries[len(d.entries)-(int(index)-staticEntries)]
	at := int(e.at)
	mid := at + int(e.name)
	return d.text[at:mid], d.text[mid : mid+int(e.value)], true
}

// insert makes a field the newest entry, or only room for it when it is larger
// than the table (RFC 7541, 4.4). The field must not lie in d.text.
func (d *decoder) insert(name, value []byte) {
	n := len(name) + len(value)
	d.evict(d.max - n - entryOverhead)
	if n+entryOverhead > d.max {
		return
	}
	if len(d.text)+n > tableSize || len(d.entries) == 2*tableSize/entryOverhead {
		d.compact()
	}
	d.entries = append(d.entries, entry{uint16(len(d.text)), uint16(len(name)), uint16(len(value))})
	d.text = append(append(d.text, name...), value...)
	d.size += n + entryOverhead
}

// evict drops the oldest entries until the table has at most that size.
func (d *decoder) evict(size int) {
	for d.size > size && d.first < len(d.entries) {
		d.size -= d.entries[d.first].size()
		d.first++
	}
	if d.first == len(d.entries) {
		d.clear()
	}
}

// compact moves the entries, of which there are some, to the beginning of the
// buffers. These are twice as long as the table can be, or hold text of evicted
// entries, so there is always something to gain.
func (d *decoder) compact() {
	from := d.entries[d.first].at
	d.text = d.text[:copy(d.text, d.text[from:])]
	d.entries = d.entries[:copy(d.entries, d.entries[d.first:])]
	d.first = 0
	for i := range d.entries {
		d.entries[i].at -= from
	}
}

// readString reads a string literal (RFC 7541, 5.2). A Huffman-coded one, which
// grows by 3/5 at most, is decoded to the end of scratch.
func (d *decoder) readString(b []byte) (s, rest []byte, ok bool) {
	if len(b) == 0 {
		return nil, nil, false
	}
	huffman := b[0]&0x80 != 0
	n, b, ok := readInt(b, 7)
	if !ok || n > uint64(len(b)) {
		return nil, nil, false
	}
	s, rest = b[:n], b[n:]
	if huffman {
		at := len(d.scratch)
		if _, err := hpack.HuffmanDecode(&d.scratch, s); err != nil {
			return nil, nil, false
		}
		s = d.scratch[at:]
	}
	return s, rest, true
}

// readInt reads an integer from b, not empty, whose first byte has that many
// bits of it (RFC 7541, 5.1). One of more than ten bytes is refused.
func readInt(b []byte, bits uint) (v uint64, rest []byte, ok bool) {
	mask := uint64(1)<<bits - 1
	v = uint64(b[0]) & mask
	if v < mask {
		return v, b[1:], true
	}
	for i := 1; i < min(len(b), 10); i++ {
		v += uint64(b[i]&0x7f) << (7 * (i - 1))
		if b[i]&0x80 == 0 {
			return v, b[i+1:], true
		}
	}
	return 0, nil, false
}
