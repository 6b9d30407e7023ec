package proc

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// findIsCheap reports that Find does not read the whole table.
const findIsCheap = true

// procTree reads a /proc tree for a Scanner.
type procTree struct {
	table   *Table
	entries []byte // of the directory, as getdents64 fills it
}

// treeOf returns nil for a table that is not a *Table.
func treeOf(table Lister) *procTree {
	if t, ok := table.(*Table); ok {
		return &procTree{table: t, entries: make([]byte, 64<<10)}
	}
	return nil
}

func (t *procTree) find(id Identity) (Process, error) {
	st, err := readStat(unix.AT_FDCWD, t.table.path(id.PID, "stat"))
	if err != nil && !isGone(err) {
		return Process{}, fmt.Errorf("pid %d: %w", id.PID, err)
	}
	if p := st.process(id.Boot, t.table.bootTime()); err == nil && !st.dead() && p.Identity == id {
		return p, nil
	}
	return Process{}, ErrGone
}

// scanTree lists the folder and reads the processes that are new or young.
func (s *Scanner) scanTree(ctx context.Context, c *Changes) error {
	t := s.fast
	dir, err := openAt(unix.AT_FDCWD, t.table.root)
	if err != nil {
		return fmt.Errorf("process table: %s: %w", t.table.root, err)
	}
	defer unix.Close(dir)
	now := time.Now()
	for {
		n, err := unix.Getdents(dir, t.entries)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return fmt.Errorf("process table: %s: %w", t.table.root, err)
		case n == 0:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("process table: %w", ctx.Err())
		}
		if err := s.takeEntries(dir, t.entries[:n], now, c); err != nil {
			return err
		}
	}
}

// The layout of struct linux_dirent64.
const (
	direntLength = 16
	direntName   = 19
)

// takeEntries compares the processes of one piece of the directory.
func (s *Scanner) takeEntries(dir int, entries []byte, now time.Time, c *Changes) error {
	for len(entries) > direntName {
		length := int(binary.NativeEndian.Uint16(entries[direntLength:]))
		if length <= direntName || length > len(entries) {
			return fmt.Errorf("process table: %s: a directory entry of %d bytes", s.fast.table.root, length)
		}
		inode := binary.NativeEndian.Uint64(entries)
		name, _, _ := bytes.Cut(entries[direntName:length], []byte{0})
		entries = entries[length:]
		pid, ok := parsePID(string(name))
		if !ok {
			continue
		}
		k := s.known[pid]
		if k != nil && k.inode == inode && (k.rereadUntil.IsZero() || !now.Before(k.rereadUntil)) && !k.reportAgain {
			k.round = s.round
			continue
		}
		if err := s.read(dir, pid, inode, now, c); err != nil {
			return err
		}
	}
	return nil
}

// read reads one process. It returns an error only for a failure that concerns the
// whole table.
func (s *Scanner) read(dir, pid int, inode uint64, now time.Time, c *Changes) error {
	t := s.fast.table
	st, err := readStat(dir, strconv.Itoa(pid)+"/stat")
	switch {
	case isGone(err): // it is reported as gone, if it was known
	case isExhausted(err):
		return fmt.Errorf("process table: %s: %w", t.root, err)
	case err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, errStat): // such as EIO: it is read again by the next look
	case err != nil || st.dead():
		if k := s.known[pid]; k != nil {
			c.addGone(k)
		}
		s.known[pid] = &seen{inode: inode, round: s.round}
	default:
		p := st.process(t.boot(), t.bootTime())
		s.compare(&p, now, c).inode = inode
	}
	return nil
}

// parsePID parses the name of an entry of /proc. Most of those that are not processes begin with a letter.
func parsePID(name string) (int, bool) {
	if name == "" || name[0] < '1' || name[0] > '9' {
		return 0, false
	}
	pid, err := strconv.Atoi(name)
	return pid, err == nil
}
