package opencode

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/members"
)

// permissionMembers are those of PermissionRequest (OpenCode 1.18.33, Kilo 7.7.9: the schema in their programs) and, beside them, of
// PermissionV2.Request (the same programs; 2.0 was read in its source).
var permissionMembers = members.Table{
	"id":         members.Named,
	"sessionID":  members.Named,
	"permission": members.Shown,
	"patterns":   members.Shown,
	"metadata":   members.Whole, // see editMembers and shellMembers
	"always":     members.Ignored(`the rules that "always" adds, which is never answered`),
	"tool":       members.Object(callMembers),
	"action":     members.Shown,
	"resources":  members.Shown,
	"save":       members.Ignored(`the rules that "always" adds, which is never answered`),
	"source":     members.Object(callMembers),
}

// callMembers name the call that asks. What it does is read from its message.
var callMembers = members.Table{"type": members.Named, "messageID": members.Named, "callID": members.Named, "id": members.Named}

// shellMembers are the metadata of a permission to run a command, where they are not shown whole.
var shellMembers = members.Table{
	"command":           members.Shown,
	"description":       members.Ignored("what the model says that the command does"),
	"action":            members.Beside("Action"),             // Kilo 7.7.9
	"backgroundProcess": members.Beside("Background process"), // Kilo 7.7.9
}

// editMembers are the metadata of a permission to change files.
var editMembers = members.Table{
	"filepath": members.Shown,
	"diff":     members.Shown,
	"files":    members.Object(fileMembers),                        // of apply_patch
	"filediff": members.Ignored("the same change in another form"), // Kilo 7.7.9
	"filePath": members.Shown,
}

var fileMembers = members.Table{
	"filePath":     members.Shown,
	"relativePath": members.Ignored("movePath or filePath, as seen from the project"),
	"movePath":     members.Shown,
	"type":         members.Shown,
	"patch":        members.Shown,
	"additions":    members.Ignored("a count of lines"),
	"deletions":    members.Ignored("a count of lines"),
}

// questionMembers are those of QuestionRequest (OpenCode 1.18.33, Kilo 7.7.9) and of a form (2.0, read in its source).
var questionMembers = members.Table{
	"id":        members.Named,
	"sessionID": members.Named,
	"questions": members.Object(members.Table{
		"question":    members.Shown,
		"header":      members.Shown,
		"multiple":    members.Flag,
		"custom":      members.Flag,
		"default":     members.Ignored("the option that Kilo's own window selects first"),
		"questionKey": members.Ignored("names a translation of the question"),
		"headerKey":   members.Ignored("names a translation of the header"),
		"options": members.Object(members.Table{
			"label":          members.Shown,
			"description":    members.Shown,
			"labelKey":       members.Ignored("names a translation: the answer is the label"),
			"descriptionKey": members.Ignored("names a translation"),
			"mode":           members.Ignored("the mode that Kilo's own window selects with the option"),
		}),
	}),
	"blocking": members.Ignored("whether Kilo's own window takes prompts meanwhile"),
	"tool":     members.Object(callMembers),
	"title":    members.Ignored("a title above the questions"),
	"mode":     members.Named,
	"fields":   members.Object(fieldMembers),
	"metadata": members.Object(callMembers),
}

// fieldMembers are those of a field of a form that a tool made of a question (2.0, read in its source).
var fieldMembers = members.Table{
	"key":         members.Named,
	"title":       members.Shown,
	"description": members.Shown,
	"type":        members.Shown,
	"when":        members.Whole,
	"custom":      members.Flag,
	"required":    members.Ignored("every question is answered"),
	"options":     members.Object(members.Table{"value": members.Shown, "label": members.Shown, "description": members.Shown}),
}

// patchFile is a file that apply_patch changes.
type patchFile struct {
	File  string `json:"filePath"`
	Moved string `json:"movePath"`
	Type  string `json:"type"`
	Patch string `json:"patch"`
}

// changeText returns a change of files: the files, where they are moved to, and the lines.
func changeText(file, diff string, files []patchFile) string {
	lines := []string{file}
	for _, f := range files {
		if f.Moved != "" || f.Type == "move" {
			lines = append(lines, "rename from "+f.File, "rename to "+cmp.Or(f.Moved, "a place that is not named"))
		}
	}
	lines = append(lines, diff)
	for _, f := range files {
		if !strings.Contains(diff, strings.TrimSpace(f.Patch)) {
			lines = append(lines, f.File, f.Patch)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// plainTypes are the types of changes of which the diff shows everything.
var plainTypes = []string{"", "add", "update", "delete", "move"}

// checkFiles makes a change one that can only be denied if it has a file with something that the text does not show.
func checkFiles(r *adapters.Request, files []patchFile) {
	for _, f := range files {
		if !slices.Contains(plainTypes, f.Type) || f.Type == "move" && f.Moved == "" || f.Type != "move" && f.Moved != "" {
			r.CanAllow = false
		}
	}
}

// checkMembers adds what a permission has beside its text.
func (p *permission) checkMembers(r *adapters.Request) {
	permissionMembers.Check(r, "", p.raw)
	metadata := agentfile.Get(p.raw, "metadata")
	switch {
	case agentfile.Null(metadata):
	case r.Kind == adapters.AsksFileChange:
		editMembers.Check(r, "metadata", metadata)
	case isShell[p.Permission]:
		shellMembers.Check(r, "metadata", metadata)
	}
}

// UnmarshalJSON implements json.Unmarshaler: it keeps the request as the server sent it.
func (p *permission) UnmarshalJSON(b []byte) error {
	type plain permission
	err := json.Unmarshal(b, (*plain)(p))
	p.raw = slices.Clone(b)
	return err
}

// UnmarshalJSON implements json.Unmarshaler: it keeps the request as the server sent it.
func (q *question) UnmarshalJSON(b []byte) error {
	type plain question
	err := json.Unmarshal(b, (*plain)(q))
	q.raw = slices.Clone(b)
	return err
}
