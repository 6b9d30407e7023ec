package agentfile

// Member is a member of an object that Members reads, see Into.
type Member struct {
	name string
	into *[]byte
}

// Into returns the member with a name, whose value Members puts into the variable.
func Into(name string, variable *[]byte) Member { return Member{name, variable} }

// Members sets the variable of each of the members that line has, to the last value with that
// name, as written. The error is that of Top.
func Members(line []byte, members ...Member) error {
	return MembersUntil(line, func(_, _ []byte) bool { return false }, members...)
}

// MembersUntil is Members, but reads no further than the first member for which end returns true.
func MembersUntil(line []byte, end func(key, raw []byte) bool, members ...Member) error {
	return Top(line, func(key, raw []byte) bool {
		for _, m := range members {
			if string(key) == m.name {
				*m.into = raw
				break
			}
		}
		return !end(key, raw)
	})
}

// First returns the complete JSON object with which b begins; nil: there is none. Like Top it
// matches quotes and brackets only.
func First(b []byte) []byte {
	if len(b) == 0 || b[0] != '{' {
		return nil
	}
	return b[:max(nested(b, 0), 0)]
}
