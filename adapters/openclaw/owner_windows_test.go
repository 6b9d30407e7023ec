package openclaw

import (
	"testing"

	"rollcall/internal/adaptertest"
	"rollcall/proc"
)

func TestGatewayOnWindows(t *testing.T) {
	table := adaptertest.Shown{Line: []string{`C:\Program Files\nodejs\node.exe`, `C:\Users\dev\AppData\npm\node_modules\openclaw\dist\index.js`, "gateway", "--port", "18789"},
		Variables: []string{`USERPROFILE=C:\Users\dev`}}
	p := proc.Process{Comm: "node"}
	if !looksLikeGateway(table, p) {
		t.Error("not taken for a gateway")
	}
	g := gatewayProcess{Process: p}
	g.read(table, `C:\Users\dev`)
	if g.foreign || g.stateDir != `C:\Users\dev\.openclaw` || g.port != 18789 {
		t.Errorf("%+v", g)
	}
	g = gatewayProcess{Process: p}
	if g.read(table, `C:\Users\ann`); !g.foreign {
		t.Error("another user's is taken for one's own")
	}
}
