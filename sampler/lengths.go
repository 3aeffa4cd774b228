package sampler

// Lengths counts sessions by their length: entry n those that ended with n
// replies, well or not. The last of [MaxLength]+1 entries also has all longer ones.
type Lengths []uint64

// MaxLength is the longest session that Lengths tells apart.
const MaxLength = 9999

// add counts n sessions of a length.
func (l *Lengths) add(length int, n uint64) {
	length = min(length, MaxLength)
	for len(*l) <= length {
		*l = append(*l, 0)
	}
	(*l)[length] += n
}

// merge adds the counts of from.
func (l *Lengths) merge(from Lengths) {
	for length, n := range from {
		l.add(length, n)
	}
}
