package settings

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// ChangeNamed writes the agent n into the file at path, in place of the entry with the name old; without old it is added. A nil n removes the entry. As with
// Change all else in the file stays as it is, also members of the entry that this version does not know. The error says what is wrong with the agent.
func ChangeNamed(path, old string, n *NamedAgent) error {
	if n != nil {
		if _, err := n.unread(); err != nil {
			return err
		}
	}
	return rewrite(path, func(text []byte) ([]byte, error) { return withNamed(text, old, n) })
}

// members returns the members of an entry in the order in which they are written. One that is empty has no value.
func (n *NamedAgent) members() []Edit {
	list := func(key string, value []string) Edit {
		if len(value) == 0 {
			return Edit{Key: key}
		}
		return Edit{Key: key, Value: value}
	}
	text := func(key, value string) Edit {
		if value == "" {
			return Edit{Key: key}
		}
		return Edit{Key: key, Value: value}
	}
	program := list("program", n.Program)
	if len(n.Program) == 1 {
		program.Value = n.Program[0]
	}
	return []Edit{text("name", n.Name), program, list("launch", n.Launch), list("resume", n.Resume), text("title_working", n.TitleWorking),
		text("title_waiting", n.TitleWaiting), list("rows", n.Rows), list("requests", n.Requests), list("answer", n.Answer)}
}

// agentHeader matches the line that begins an entry, and anyHeader one that begins any table.
var (
	agentHeader = regexp.MustCompile(`^\s*\[\[\s*agent\s*\]\]\s*(#.*)?$`)
	anyHeader   = regexp.MustCompile(`^\s*\[`)
)

// withNamed returns the text with one entry changed, added or removed.
func withNamed(text []byte, old string, n *NamedAgent) ([]byte, error) {
	before := map[string]any{}
	var named struct {
		Agents []NamedAgent `toml:"agent"`
	}
	if _, err := toml.Decode(string(text), &before); err != nil {
		return nil, fmt.Errorf("%s; correct that first", explain(err))
	}
	if _, err := toml.Decode(string(text), &named); err != nil {
		return nil, fmt.Errorf("%s; correct that first", explain(err))
	}
	at := slices.IndexFunc(named.Agents, func(a NamedAgent) bool { return a.Name == old })
	switch {
	case old == "":
		at = len(named.Agents)
	case at < 0:
		return nil, fmt.Errorf("the file has no agent %q any more", old)
	}
	if n != nil && slices.ContainsFunc(named.Agents, func(a NamedAgent) bool { return a.Name == n.Name && n.Name != old }) {
		return nil, fmt.Errorf("another agent has the name %q: give each its own name", n.Name)
	}
	lines := strings.SplitAfter(string(text), "\n")
	from, to, err := entry(lines, at, len(named.Agents))
	if err != nil {
		return nil, err
	}
	var block []string
	if n != nil {
		block, err = withMembers(slices.Clone(lines[from:to]), n.members())
	}
	if err != nil {
		return nil, err
	}
	after := []byte(strings.Join(slices.Concat(lines[:from], block, lines[to:]), ""))
	if !changesEntry(before, after, at, n) {
		return nil, fmt.Errorf("the entry of %q cannot be changed here without changing more: change it in the file", old)
	}
	return after, nil
}

// entry returns the lines of the entry with the number at, of count; those of a new one are none, at the end of the file.
func entry(lines []string, at, count int) (from, to int, err error) {
	var headers []int
	for i, l := range lines {
		if agentHeader.MatchString(strings.TrimRight(l, "\r\n")) {
			headers = append(headers, i)
		}
	}
	switch {
	case len(headers) != count:
		return 0, 0, errors.New("the agents are not written as [[agent]]: change them in the file")
	case at == count:
		return len(lines), len(lines), nil
	}
	from = headers[at]
	for to = from + 1; to < len(lines) && !anyHeader.MatchString(lines[to]); {
		to++
	}
	for to < len(lines) && to > from+1 && (strings.TrimSpace(lines[to-1]) == "" || strings.HasPrefix(strings.TrimSpace(lines[to-1]), "#")) {
		to-- // a comment above the next table belongs to it
	}
	return from, to, nil
}

// withMembers returns the lines of an entry with its members as they are to be.
func withMembers(block []string, members []Edit) ([]string, error) {
	if len(block) == 0 {
		block = []string{"\n", "[[agent]]\n"}
	}
	last := slices.IndexFunc(block, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "[[") })
	for _, e := range members {
		value, err := literal(e.Value)
		if err != nil {
			return nil, err
		}
		key := regexp.MustCompile(`^\s*` + e.Key + `\s*=`)
		at := slices.IndexFunc(block, key.MatchString)
		switch {
		case at < 0 && e.Value == nil:
			continue
		case at < 0:
			block[last] = strings.TrimRight(block[last], "\r\n") + "\n"
			block = slices.Insert(block, last+1, e.Key+" = "+value+"\n")
			last++
			continue
		}
		block, err = replaceLine(block, at, e, value)
		if err != nil {
			return nil, fmt.Errorf("%s is written in a way that cannot be changed here, such as over several lines: change it in the file", e.Key)
		}
		switch {
		case e.Value != nil:
			last = max(last, at)
		case at <= last:
			last--
		}
	}
	return block, nil
}

// changesEntry reports whether the text has the entry as it is to be, and all else as before.
func changesEntry(before map[string]any, after []byte, at int, n *NamedAgent) bool {
	now := map[string]any{}
	if _, err := toml.Decode(string(after), &now); err != nil {
		return false
	}
	was, _ := before["agent"].([]map[string]any)
	was = slices.Clone(was)
	if n == nil {
		was = slices.Delete(was, at, at+1)
	} else {
		if at == len(was) {
			was = append(was, map[string]any{})
		}
		for _, e := range n.members() {
			if e.setIn(was[at]) != nil {
				return false
			}
		}
	}
	is, _ := now["agent"].([]map[string]any)
	delete(before, "agent")
	delete(now, "agent")
	return len(was) == len(is) && (len(was) == 0 || reflect.DeepEqual(was, is)) && reflect.DeepEqual(before, now)
}
