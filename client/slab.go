package client

// A slab holds values that never move, by index, and gives those back first that
// were returned last.
type slab[T any] struct {
	chunks [][]T
	free   []int32
}

const chunkBits = 8 // of the values that are allocated at once

func (s *slab[T]) at(i int32) *T { return &s.chunks[i>>chunkBits][i&(1<<chunkBits-1)] }

// take returns the index of an unused value, which is as it was given back.
func (s *slab[T]) take() int32 {
	if len(s.free) == 0 {
		base := int32(len(s.chunks)) << chunkBits
		s.chunks = append(s.chunks, make([]T, 1<<chunkBits))
		// There is room for all: giving back allocates nothing.
		s.free = make([]int32, 0, len(s.chunks)<<chunkBits)
		for i := int32(1<<chunkBits - 1); i >= 0; i-- {
			s.free = append(s.free, base+i)
		}
	}
	i := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	return i
}

func (s *slab[T]) give(i int32) { s.free = append(s.free, i) }

// all yields every value, used or not.
func (s *slab[T]) all(yield func(*T) bool) {
	for i := range s.chunks {
		for k := range s.chunks[i] {
			if !yield(&s.chunks[i][k]) {
				return
			}
		}
	}
}
