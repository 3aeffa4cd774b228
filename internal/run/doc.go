// Package run turns what a user asked for into a run: it resolves the target,
// works out the plan and its limits, drives the client, and fills the result.
// The command and the experiments call it; it prints nothing itself.
package run
