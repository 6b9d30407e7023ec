package openclaw

import (
	"testing"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
)

func TestConformance(t *testing.T) {
	adaptertest.Conformance(t, adaptertest.Subject{
		Agent: scene.OpenClaw,
		New: func(w *scene.Environment) adapters.Adapter {
			return New(Config{Config: adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table, Homes: w.NamedHomes}})
		},
		Hang: func(_ *scene.Environment, a scene.Agent, _ []*scene.Session) func() {
			scene.Gateway(a).Hang()
			return scene.Gateway(a).Resume
		},
		Whole: "the gateway answers all of its sessions at once",
		Exempt: map[string]string{
			"folder renamed":        "a gateway's sessions have no processes here",
			"pid reused":            "a gateway's sessions have no processes here",
			"zombie":                "a gateway's sessions have no processes here",
			"died with its machine": "a gateway's sessions have no processes here",
			"torn":                  "the gateway answers whole messages; its files are not read",
			"unknown record":        "rows have members that nobody needs to know",
			"unknown form":          "the gateway's files are not read",
			"huge":                  "the gateway's files are not read",
			"watched":               "the gateway tells of changes itself",
		},
	})
}
