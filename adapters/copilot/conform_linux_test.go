package copilot

import (
	"testing"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
)

func TestConformance(t *testing.T) {
	adaptertest.Conformance(t, adaptertest.Subject{
		Agent: scene.Copilot,
		New: func(w *scene.Environment) adapters.Adapter {
			return New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table, Homes: w.NamedHomes})
		},
		Exempt: map[string]string{"socket hangs": "it has no socket"},
	})
}
