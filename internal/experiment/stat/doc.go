// Package stat decides the experiments: it holds the statistics of sweep,
// compare and fair as pure functions of numbers already measured, and the
// search for a capacity as a state machine. It has no I/O, no clock and no
// goroutine; a seed is the only source of chance.
//
// # Design
//
// The unit of every test is a trial, never a request: the requests of one
// trial share their trial's luck, and pooling them makes any difference
// significant.
//
// Comparisons rest on the order of the arms being drawn anew in every block.
// If two arms are the same, swapping them within a block changes nothing but
// the sign of the block's difference, so all 2^n patterns of signs are equally
// likely whatever the noise looks like: heavy-tailed, tied or correlated from
// one trial to the next. The tests count those patterns exactly.
//
// Nothing depends on the order in which arms or clients are listed, so that
// kept trials analysed again under other names give the same numbers.
//
// No answer is an answer: where the data cannot carry a claim the result says
// so, with the reason, and gives no number.
package stat
