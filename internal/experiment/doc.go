// Package experiment carries out sweep, compare and fair: it says which runs
// are needed, keeps each of them as a trial, and makes one answer of all.
// Package stat decides; this package measures for it.
//
// # Design
//
// A trial is an ordinary run with an ordinary result. Everything an answer says
// is computed from the results of its trials, so that kept trials that are
// analysed again give the same answer, and an experiment that was interrupted
// goes on where it was: what is to be run next follows from what has been.
//
// What carries out a trial is a [Runner]. The experiments read no clock and
// start no goroutine, so with a runner that makes results up they are
// deterministic.
//
// A trial whose generator was the limit says nothing of the target. It is never
// counted against it: see [Objective.Judge] for how the two are told apart.
package experiment
