package codex

import (
	"context"
	"encoding/json"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/members"
)

// never are rules that would hold for more than one request.
const never = "a rule for later requests, which is never accepted"

// requestMembers are those of the daemon's messages.
var requestMembers = members.Table{"id": members.Named, "method": members.Named, "jsonrpc": members.Named, "trace": members.Ignored("where it is logged"),
	"params": members.Whole} // see paramMembers

// paramMembers are the parameters of the requests that can be answered from here, by method: those of the schema that `codex app-server
// generate-json-schema --experimental` writes (0.137.0 and 0.171.0).
var paramMembers = map[string]members.Table{
	asksCommand: {
		"threadId":                        members.Named,
		"turnId":                          members.Named,
		"itemId":                          members.Named,
		"approvalId":                      members.Named,
		"startedAtMs":                     members.Named,
		"kind":                            members.Shown,
		"command":                         members.Shown,
		"cwd":                             members.Shown,
		"reason":                          members.Shown,
		"environmentId":                   members.Beside("Environment"),
		"networkApprovalContext":          members.Beside("Network"),
		"additionalPermissions":           members.Beside("More permissions"),
		"availableDecisions":              members.Whole,
		"commandActions":                  members.Ignored("the daemon's own reading of the command"),
		"proposedExecpolicyAmendment":     members.Ignored(never),
		"proposedNetworkPolicyAmendments": members.Ignored(never),
	},
	asksFiles: {
		"threadId":    members.Named,
		"turnId":      members.Named,
		"itemId":      members.Named,
		"startedAtMs": members.Named,
		"reason":      members.Shown,
		"grantRoot":   members.Shown,
	},
	asksUser: {
		"threadId":         members.Named,
		"turnId":           members.Named,
		"itemId":           members.Named,
		"isBlocking":       members.Ignored("whether the turn waits for the answer"),
		"autoResolutionMs": members.Ignored("when the turn goes on without an answer"),
		"questions": members.Object(members.Table{
			"id":       members.Named,
			"header":   members.Shown,
			"question": members.Shown,
			"isOther":  members.Flag,
			"isSecret": members.Flag,
			"options":  members.Object(members.Table{"label": members.Shown, "description": members.Shown}),
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

var changeMembers = members.Table{"path": members.Shown, "diff": members.Shown, "kind": members.Object(members.Table{"type": members.Shown, "move_path": members.Shown})}

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
