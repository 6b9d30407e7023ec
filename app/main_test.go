package app

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if name := os.Getenv("ROLLCALL_TEST_ROLE"); name != "" {
		os.Exit(role(name))
	}
	goleak.VerifyTestMain(m)
}
