// Package scene plays coding agents for tests: a home folder and a process
// table in which sessions begin, take turns, wait, end and die, with the very
// files and processes that the real programs have at that moment, and the truth
// about each session beside them. Nothing runs but the test; the process table
// is a /proc tree of its own, read by the real package proc.
package scene
