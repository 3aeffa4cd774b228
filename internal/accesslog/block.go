package accesslog

import "fmt"

// blockSize is how many requests there are to an entry of the index, and how
// many are parsed at once.
const blockSize = 256

// A block is a stretch of parsed requests.
type block struct {
	number  uint64
	used    uint64 // when it was asked for last, in calls; 0 when it is empty
	entries []Entry
}

// cache holds the blocks asked for last. The loops of a run ask for nearly the
// same requests at a time, so a few are enough.
type cache struct {
	blocks [8]block
	calls  uint64
}

// Request returns request i of the log, counted from 0; after the last one
// comes the first again. Calls that are nearly in order are fast.
func (l *Log) Request(i uint64) (Entry, error) {
	i %= l.n
	l.mu.Lock()
	defer l.mu.Unlock()
	b, err := l.block(i / blockSize)
	if err != nil {
		return Entry{}, fmt.Errorf("accesslog: request %d: %w", i, err)
	}
	return b.entries[i%blockSize], nil
}

// block returns a block from the cache or from the file.
func (l *Log) block(number uint64) (*block, error) {
	l.cache.calls++
	oldest := &l.cache.blocks[0]
	for i := range l.cache.blocks {
		b := &l.cache.blocks[i]
		if b.used > 0 && b.number == number {
			b.used = l.cache.calls
			return b, nil
		}
		if b.used < oldest.used {
			oldest = b
		}
	}
	oldest.used = 0
	if err := l.load(oldest, number); err != nil {
		return nil, err
	}
	oldest.used = l.cache.calls
	return oldest, nil
}

// load reads a block from the file.
func (l *Log) load(b *block, number uint64) error {
	c := &l.in
	c.seek(l.index[number])
	b.number = number
	b.entries = b.entries[:0]
	for range min(blockSize, l.n-number*blockSize) {
		if err := c.next(); err != nil {
			return l.reread(c, err)
		}
		if len(b.entries) == 0 && c.begin != l.index[number] {
			return l.changed(c.begin)
		}
		b.entries = append(b.entries, c.entry())
	}
	if next := number + 1; next < uint64(len(l.index)) && c.off > l.index[next] {
		return l.changed(c.off)
	}
	return nil
}
