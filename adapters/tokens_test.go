package adapters

import (
	"math"
	"testing"
)

// A sum never wraps around to a negative number.
func TestTokensAdd(t *testing.T) {
	const large = int64(1e18)
	var sum Tokens
	for range 12 {
		sum.Add(Tokens{Input: large, Output: 1})
	}
	if sum.Input != math.MaxInt64 || sum.Output != 12 {
		t.Errorf("%+v", sum)
	}
}
