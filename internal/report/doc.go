// Package report holds the result of a run and its renderings.
//
// A [Result] is a plain record: the caller fills it, the package prints it as
// httperf's text ([Details.Classic]), that text with a block of its own ([Details.Text]),
// JSON ([JSON]) or CSV ([CSV]). While a run goes on, [Line] makes one line of a
// finished window for people and [NDJSON] one for programs.
//
// # Design
//
// JSON is the contract, described by the embedded schemas (see [Schema]). The
// text is made from the same fields and nothing else, so a result that was
// saved as JSON prints the same text when it is read back.
//
// Numbers are in base units: seconds, bytes, events per second. The text
// converts to milliseconds and KB where httperf does, and says so in brackets.
//
// Objects that count by name (errors, shed, status) always have all their keys,
// zero included, so a reader never has to ask whether a missing key means none.
//
// A percentile without enough samples behind it is absent (see [Reliable]): a
// p99.99 of a hundred replies is their maximum under another name.
package report
