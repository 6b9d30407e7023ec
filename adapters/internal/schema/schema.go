// Package schema knows the members that the requests of agents have in the agents' own schemas. Everything that changes what an allowed request
// does is shown and in the request's key; a request with a member that no table has can only be denied.
package schema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
)

// Table lists the members of an object in a request, as the agent's own schema has them, with what Rollcall does with each. The comment of a
// table names the schema and its version.
type Table map[string]Member

// Member is what Rollcall does with a member of a request.
type Member struct {
	use   use
	text  string // of beside: its title; of ignored: why it changes nothing
	inner Table
}

type use uint8

const (
	shown   use = iota + 1 // in a text of the request, and so in its key: a text, or a list of texts
	flag                   // the same: true, false or a number
	whole                  // the same: anything, as JSON
	beside                 // in Request.Details, whatever it is
	named                  // the name of the request, its session or its call: a text or a number
	ignored                // it changes nothing
	object                 // an object, or a list of objects
)

// Shown, Flag and Whole are members that the adapter itself shows: texts, numbers and switches, and anything as JSON. Named is one that names the
// request, its session, its call or its time.
var (
	Shown = Member{use: shown}
	Flag  = Member{use: flag}
	Whole = Member{use: whole}
	Named = Member{use: named}
)

// Beside returns a member that is shown beside the text of the request, under a title. A request with one takes more than one key.
func Beside(title string) Member { return Member{use: beside, text: title} }

// Ignored returns a member that is not shown, because it changes nothing that an answer from here does. why says so.
func Ignored(why string) Member { return Member{use: ignored, text: why} }

// Object returns a member that is an object, or a list of objects, with these members.
func Object(members Table) Member { return Member{use: object, inner: members} }

// Check adds the members that are shown beside its text to a request. A member that the table does not have, that is there twice or that has
// another form makes the request one that can only be denied. raw is the object; name is what it is called in the request, "" for the whole
// request. Call Check when everything else of the request is set.
func (t Table) Check(r *adapters.Request, name string, raw []byte) {
	list, ok := objectMembers(raw)
	if !ok {
		unknown(r, name)
		return
	}
	seen := map[string]bool{}
	for _, one := range list {
		at := strings.TrimPrefix(name+"."+one.name, ".")
		known, has := t[one.name]
		if !has || seen[one.name] {
			unknown(r, at)
			continue
		}
		seen[one.name] = true
		if !agentfile.Null(one.value) {
			known.check(r, at, one.value)
		}
	}
}

// unknown makes a request one that can only be denied.
func unknown(r *adapters.Request, name string) {
	r.CanAllow = false
	if !slices.Contains(r.Unknown, name) {
		r.Unknown = append(r.Unknown, name)
	}
}

func (m Member) check(r *adapters.Request, name string, value json.RawMessage) {
	var list []json.RawMessage
	isList := json.Unmarshal(value, &list) == nil
	switch m.use {
	case shown:
		if !isList {
			list = []json.RawMessage{value}
		}
		if slices.ContainsFunc(list, func(one json.RawMessage) bool { return !isText(one) }) {
			unknown(r, name)
		}
	case flag:
		if isList || isText(value) || value[0] == '{' {
			unknown(r, name)
		}
	case named:
		if isList || value[0] == '{' {
			unknown(r, name)
		}
	case beside:
		if text := besideText(value, list); text != "" {
			r.Details = append(r.Details, adapters.Detail{Title: m.text, Text: text})
		}
	case object:
		if !isList {
			m.inner.Check(r, name, value)
		}
		for _, one := range list {
			m.inner.Check(r, name+"[]", one)
		}
	}
}

func isText(value json.RawMessage) bool { return value[0] == '"' }

// besideText returns a value as text: a list of texts with commas, and everything that is no text as JSON. A value that says nothing has none.
func besideText(value json.RawMessage, list []json.RawMessage) string {
	switch string(value) {
	case `[]`, `{}`, `false`:
		return ""
	}
	if isText(value) {
		return agentfile.String(value)
	}
	var texts []string
	if json.Unmarshal(value, &texts) == nil && len(texts) == len(list) {
		return strings.Join(texts, ", ")
	}
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return string(value)
	}
	return b.String()
}

type objectMember struct {
	name  string
	value json.RawMessage
}

// objectMembers returns the members of an object in their order. ok is false for another value.
func objectMembers(raw []byte) (list []objectMember, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		token, err := d.Token()
		var one objectMember
		one.name, ok = token.(string)
		if err != nil || !ok || d.Decode(&one.value) != nil {
			return nil, false
		}
		list = append(list, one)
	}
	_, err := d.Token()
	return list, err == nil
}
