package ui

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	_ "rollcall/adapters/all"
	"rollcall/internal/uitest"
)

// roleVariable makes the test binary play a program.
const roleVariable = "ROLLCALL_UI_TEST_ROLE"

// fakeAgent is an agent without sessions. Its launches are planned and not started.
type fakeAgent = uitest.Agent

var usualAgents = uitest.Agents

// roles are what the test binary can play.
var roles = map[string]func() int{}

func TestMain(m *testing.M) {
	if play, ok := roles[os.Getenv(roleVariable)]; ok {
		os.Exit(play())
	}
	uitest.UseTheme(uitest.Light)
	goleak.VerifyTestMain(m)
}
