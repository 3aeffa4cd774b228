// Package sampler records what happened to the arrivals of a run: exact
// tallies, windows, and histograms, and the verdict on whether the run may be
// believed.
//
// A loop of the client owns one [Recorder] and writes to it without locks. The
// recorder collects into a page; when a window ends it hands the whole page
// over to the [Sampler], which merges it, and goes on with an empty one. The
// sampler keeps totals, one [Window] a base interval, and lets any number of
// consumers follow them while the run goes on.
//
// # Design
//
// Each value is recorded once, in the page of its window; totals are merged
// pages, so windows and totals cannot disagree. Count, sum, sum of squares,
// minimum and maximum are exact integers beside the histogram. A page is
// handed over by pointer, once a base interval; while somebody follows live
// ([Sampler.Live]) also every 100 ms, so that a snapshot is never older.
// Merging one page of a busy second takes about a millisecond, which is why it
// is not done more often than somebody looks.
package sampler
