package qwen

import (
	"testing"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
)

func TestClockSetForward(t *testing.T) {
	adaptertest.ClockSetForward(t, scene.Qwen, func(c adapters.Config) adapters.Adapter { return New(c) })
}
