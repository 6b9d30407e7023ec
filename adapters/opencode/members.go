package opencode

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/schema"
)

// permissionMembers are those of PermissionRequest (OpenCode 1.18.33, Kilo 7.7.9: the schema in their programs) and, beside them, of
// PermissionV2.Request (the same programs; 2.0 was read in its source).
var permissionMembers = schema.Table{
	"id":         schema.Named,
	"sessionID":  schema.Named,
	"permission": schema.Shown,
	"patterns":   schema.Shown,
	"metadata":   schema.Whole, // see editMembers and shellMembers
	"always":     schema.Ignored(`the rules that "always" adds, which is never answered`),
	"tool":       schema.Object(callMembers),
	"action":     schema.Shown,
	"resources":  schema.Shown,
	"save":       schema.Ignored(`the rules that "always" adds, which is never answered`),
	"source":     schema.Object(callMembers),
}

// callMembers name the call that asks. What it does is read from its message.
var callMembers = schema.Table{"type": schema.Named, "messageID": schema.Named, "callID": schema.Named, "id": schema.Named}

// shellMembers are the metadata of a permission to run a command, where they are not shown whole.
var shellMembers = schema.Table{
	"command":           schema.Shown,
	"description":       schema.Ignored("what the model says that the command does"),
	"action":            schema.Beside("Action"),             // Kilo 7.7.9
	"backgroundProcess": schema.Beside("Background process"), // Kilo 7.7.9
}

// editMembers are the metadata of a permission to change files.
var editMembers = schema.Table{
	"filepath": schema.Shown,
	"diff":     schema.Shown,
	"files":    schema.Object(fileMembers),                        // of apply_patch
	"filediff": schema.Ignored("the same change in another form"), // Kilo 7.7.9
	"filePath": schema.Shown,
}

var fileMembers = schema.Table{
	"filePath":     schema.Shown,
	"relativePath": schema.Ignored("movePath or filePath, as seen from the project"),
	"movePath":     schema.Shown,
	"type":         schema.Shown,
	"patch":        schema.Shown,
	"additions":    schema.Ignored("a count of lines"),
	"deletions":    schema.Ignored("a count of lines"),
}

// questionMembers are those of QuestionRequest (OpenCode 1.18.33, Kilo 7.7.9) and of a form (2.0, read in its source).
var questionMembers = schema.Table{
	"id":        schema.Named,
	"sessionID": schema.Named,
	"questions": schema.Object(schema.Table{
		"question":    schema.Shown,
		"header":      schema.Shown,
		"multiple":    schema.Flag,
		"custom":      schema.Flag,
		"default":     schema.Ignored("the option that Kilo's own window selects first"),
		"questionKey": schema.Ignored("names a translation of the question"),
		"headerKey":   schema.Ignored("names a translation of the header"),
		"options": schema.Object(schema.Table{
			"label":          schema.Shown,
			"description":    schema.Shown,
			"labelKey":       schema.Ignored("names a translation: the answer is the label"),
			"descriptionKey": schema.Ignored("names a translation"),
			"mode":           schema.Ignored("the mode that Kilo's own window selects with the option"),
		}),
	}),
	"blocking": schema.Ignored("whether Kilo's own window takes prompts meanwhile"),
	"tool":     schema.Object(callMembers),
	"title":    schema.Ignored("a title above the questions"),
	"mode":     schema.Named,
	"fields":   schema.Object(fieldMembers),
	"metadata": schema.Object(callMembers),
}

// fieldMembers are those of a field of a form that a tool made of a question (2.0, read in its source).
var fieldMembers = schema.Table{
	"key":         schema.Named,
	"title":       schema.Shown,
	"description": schema.Shown,
	"type":        schema.Shown,
	"when":        schema.Whole,
	"custom":      schema.Flag,
	"required":    schema.Ignored("every question is answered"),
	"options":     schema.Object(schema.Table{"value": schema.Shown, "label": schema.Shown, "description": schema.Shown}),
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
