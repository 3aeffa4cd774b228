// Package arch holds no code, only the test that keeps the import rules: who
// may know whom, and what a library must not do.
//
// # Design
//
// The rules are a table in the test. A package of the module that the table
// does not name fails it, so a new package comes with its rule.
package arch
