package agentfile

import "testing"

func TestUnchanged(t *testing.T) {
	was := Stamp{Device: 1, Inode: 2, Size: 3, Modified: 4, Changed: 5}
	change := func(f func(s *Stamp)) Stamp {
		s := was
		f(&s)
		return s
	}
	fresh := change(func(s *Stamp) { s.Fresh = true })
	for name, test := range map[string]struct {
		was, now        Stamp
		unchanged, same bool
	}{
		"the same":         {was, was, true, true},
		"read again soon":  {was, fresh, true, true},
		"read too soon":    {fresh, was, false, true},
		"another inode":    {was, change(func(s *Stamp) { s.Inode++ }), false, false},
		"grown":            {was, change(func(s *Stamp) { s.Size++ }), false, true},
		"modified":         {was, change(func(s *Stamp) { s.Modified++ }), false, true},
		"changed":          {was, change(func(s *Stamp) { s.Changed++ }), false, true},
		"another device":   {was, change(func(s *Stamp) { s.Device++ }), false, false},
		"no device":        {change(func(s *Stamp) { s.Device = 0 }), was, true, true},
		"no device, grown": {change(func(s *Stamp) { s.Device = 0 }), change(func(s *Stamp) { s.Size++ }), false, true},
		"no file before":   {Stamp{}, was, false, false},
		"no file now":      {was, Stamp{}, false, false},
		"never a file":     {Stamp{}, Stamp{}, false, false},
	} {
		if got := test.was.Unchanged(test.now); got != test.unchanged {
			t.Errorf("%s: unchanged is %v", name, got)
		}
		if got := test.was.SameFile(test.now); got != test.same {
			t.Errorf("%s: the same file is %v", name, got)
		}
	}
}
