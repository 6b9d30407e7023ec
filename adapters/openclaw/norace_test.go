//go:build !race

package openclaw_test

const many = 10_000
