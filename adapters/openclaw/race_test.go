//go:build race

package openclaw_test

// many is how many sessions TestManySessions has. With the race detector the double
// takes longer to tell of 10,000 than the adapter waits.
const many = 3_000
