package codex

import (
	"context"
	"encoding/json"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/schema"
)

// never are rules that would hold for more than one request.
const never = "a rule for later requests, which is never accepted"

// requestMembers are those of the daemon's messages.
var requestMembers = schema.Table{"id": schema.Named, "method": schema.Named, "jsonrpc": schema.Named, "trace": schema.Ignored("where it is logged"),
	"params": schema.Whole} // see paramMembers

// paramMembers are the parameters of the requests that can be answered from here, by method: those of the schema that `codex app-server
// generate-json-schema --experimental` writes (0.137.0 and 0.171.0).
var paramMembers = map[string]schema.Table{
	asksCommand: {
		"threadId":                        schema.Named,
		"turnId":                          schema.Named,
		"itemId":                          schema.Named,
		"approvalId":                      schema.Named,
		"startedAtMs":                     schema.Named,
		"kind":                            schema.Shown,
		"command":                         schema.Shown,
		"cwd":                             schema.Shown,
		"reason":                          schema.Shown,
		"environmentId":                   schema.Beside("Environment"),
		"networkApprovalContext":          schema.Beside("Network"),
		"additionalPermissions":           schema.Beside("More permissions"),
		"availableDecisions":              schema.Whole,
		"commandActions":                  schema.Ignored("the daemon's own reading of the command"),
		"proposedExecpolicyAmendment":     schema.Ignored(never),
		"proposedNetworkPolicyAmendments": schema.Ignored(never),
	},
	asksFiles: {
		"threadId":    schema.Named,
		"turnId":      schema.Named,
		"itemId":      schema.Named,
		"startedAtMs": schema.Named,
		"reason":      schema.Shown,
		"grantRoot":   schema.Shown,
	},
	asksUser: {
		"threadId":         schema.Named,
		"turnId":           schema.Named,
		"itemId":           schema.Named,
		"isBlocking":       schema.Ignored("whether the turn waits for the answer"),
		"autoResolutionMs": schema.Ignored("when the turn goes on without an answer"),
		"questions": schema.Object(schema.Table{
			"id":       schema.Named,
			"header":   schema.Shown,
			"question": schema.Shown,
			"isOther":  schema.Flag,
			"isSecret": schema.Flag,
			"options":  schema.Object(schema.Table{"label": schema.Shown, "description": schema.Shown}),
		}),
	},
}

// checkMembers adds what a request has beside its text. The requests of other methods are shown as they are, and not answered from here.
func (a *asked) checkMembers(r *adapters.Request, raw []byte) {
	if table, answered := paramMembers[a.Method]; answered {
		requestMembers.Check(r, "", raw)
		table.Check(r, "params", agentfile.Get(raw, "params"))
	}
}

// fileChange is a file that an item of the daemon changes: FileUpdateChange of the same schema.
type fileChange struct {
	Path string `json:"path"`
	Diff string `json:"diff"`
	Kind struct {
		Type  string `json:"type"`
		Moved string `json:"move_path"`
	} `json:"kind"`
}

var changeMembers = schema.Table{"path": schema.Shown, "diff": schema.Shown, "kind": schema.Object(schema.Table{"type": schema.Shown, "move_path": schema.Shown})}

// changes returns the text of the file change that the daemon is about to make in an item, as a patch: it is what an answer allows. The text is empty if the
// daemon does not show the items of its open turn, or if the item has a member that is not known.
func (j *joined) changes(ctx context.Context, item string) (text string) {
	limited, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	observer, err := connect(limited, j.socket, experimental)
	if err != nil {
		return ""
	}
	defer observer.close()
	result, err := observer.openTurn(limited, j.thread)
	if err != nil {
		return ""
	}
	eachItem(result, func(one []byte) {
		var shown struct {
			ID      string            `json:"id"`
			Type    string            `json:"type"`
			Changes []json.RawMessage `json:"changes"`
		}
		if json.Unmarshal(one, &shown) == nil && shown.ID == item && shown.Type == "fileChange" {
			text = patchText(shown.Changes)
		}
	})
	return text
}

// patchText returns the changes of an item in the form of apply_patch; "" if one of them is in a form that is not known.
func patchText(changes []json.RawMessage) string {
	lines := []string{"*** Begin Patch"}
	for _, raw := range changes {
		var c fileChange
		var check adapters.Request
		changeMembers.Check(&check, "", raw)
		if json.Unmarshal(raw, &c) != nil || check.Unknown != nil {
			return ""
		}
		diff := strings.TrimSuffix(c.Diff, "\n")
		switch c.Kind.Type {
		case "add":
			lines = append(lines, "*** Add File: "+c.Path, "+"+strings.ReplaceAll(diff, "\n", "\n+"))
		case "delete":
			lines = append(lines, "*** Delete File: "+c.Path)
		case "update":
			lines = append(lines, "*** Update File: "+c.Path)
			if c.Kind.Moved != "" {
				lines = append(lines, "*** Move to: "+c.Kind.Moved)
			}
			lines = append(lines, diff)
		default:
			return ""
		}
	}
	if len(changes) == 0 {
		return ""
	}
	return strings.Join(append(lines, "*** End Patch"), "\n")
}
