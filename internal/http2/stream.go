package http2

// A stream is a request and its reply, as far as it has come. Streams are used
// again, so a pointer to one is good only until the next event.
type stream struct {
	id     uint32 // 0 while unused
	ref    uint64
	window int64  // bytes that the peer lets us send; negative after it shrank the window
	body   []byte // what of the request waits for a window
	recv   int64  // bytes received and not yet given back to the peer's window
	length int64  // Content-Length, -1 without
	reply  Reply
	head   bool // the request is HEAD
	begun  bool // a frame of the reply came
	final  bool // the header of the final reply came
}

// empty reports whether the reply has no body whatever its length says
// (RFC 9113, 8.1.1).
func (s *stream) empty() bool { return s.head || s.reply.Status == 204 || s.reply.Status == 304 }

// A streamTable finds open streams by id: an open-addressed hash table at most
// half full. Ids of one connection follow each other, so the id is a good hash.
type streamTable struct {
	slots []*stream // a power of two of them
	open  int
	free  []*stream
}

// find returns the open stream of an id, or nil.
func (t *streamTable) find(id uint32) *stream {
	if t.open == 0 {
		return nil
	}
	return t.slots[t.slot(id)]
}

// slot returns where a stream is, or is to be put.
func (t *streamTable) slot(id uint32) int {
	i := t.home(id)
	for t.slots[i] != nil && t.slots[i].id != id {
		i = (i + 1) & (len(t.slots) - 1)
	}
	return i
}

// home returns where a stream belongs when nothing is in its way.
func (t *streamTable) home(id uint32) int { return int(id>>1) & (len(t.slots) - 1) }

// add opens a stream.
func (t *streamTable) add(id uint32) *stream {
	if 2*(t.open+1) > len(t.slots) {
		old := t.slots
		t.slots = make([]*stream, max(8, 2*len(old)))
		for _, s := range old {
			if s != nil {
				t.slots[t.slot(s.id)] = s
			}
		}
	}
	if len(t.free) == 0 {
		t.free = append(t.free, &stream{})
	}
	last := len(t.free) - 1
	s := t.free[last]
	t.free = t.free[:last]
	*s = stream{id: id, length: -1}
	t.slots[t.slot(id)] = s
	t.open++
	return s
}

// remove closes an open stream.
func (t *streamTable) remove(s *stream) {
	mask := len(t.slots) - 1
	hole := t.slot(s.id)
	// What follows up to the next gap moves up, unless that would put it ahead
	// of its home.
	for i := (hole + 1) & mask; t.slots[i] != nil; i = (i + 1) & mask {
		if (i-t.home(t.slots[i].id))&mask >= (i-hole)&mask {
			t.slots[hole], hole = t.slots[i], i
		}
	}
	t.slots[hole] = nil
	t.open--
	*s = stream{}
	t.free = append(t.free, s)
}

// clear closes all streams.
func (t *streamTable) clear() {
	for i, s := range t.slots {
		if s != nil {
			*s = stream{}
			t.free = append(t.free, s)
			t.slots[i] = nil
		}
	}
	t.open = 0
}
