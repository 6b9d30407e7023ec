package agentfile

import "time"

// Stamp identifies one state of a file: equal stamps mean equal contents. The stamp includes
// the time of the last change of the file's attributes: every write sets that time, and no
// program can set it back, while a program can set back the time of modification. The zero
// value is the stamp of no file.
type Stamp struct {
	// Device is the number of the file system, which is compared where both stamps have one. It is
	// not kept between processes: btrfs, ZFS, NFS and overlays get another number at each mount.
	Device            uint64 `facts:"-"`
	Inode             uint64
	Size              int64
	Modified, Changed int64 // in nanoseconds since 1970
	// Fresh reports that the file had been changed so shortly before the stamp was taken that a
	// further change may give the same stamp.
	Fresh bool
}

const (
	// clockTick is longer than a tick of the clock from which file systems take their times.
	clockTick = 20 * time.Millisecond
	// coarseTick is the same for file systems that keep no fractions of a second.
	coarseTick = 2 * time.Second
)

// settle sets Fresh.
func (s Stamp) settle(now time.Time) Stamp {
	tick := clockTick
	if s.Changed%int64(time.Second) == 0 {
		tick = coarseTick
	}
	s.Fresh = now.UnixNano()-s.Changed < int64(tick)
	return s
}

// IsZero reports whether s is the stamp of no file.
func (s Stamp) IsZero() bool { return s == Stamp{} }

// SameFile reports whether both stamps are of one file, which may have changed.
func (s Stamp) SameFile(o Stamp) bool {
	return !s.IsZero() && !o.IsZero() && s.mayShareDevice(o) && s.Inode == o.Inode
}

func (s Stamp) mayShareDevice(o Stamp) bool {
	return s.Device == o.Device || s.Device == 0 || o.Device == 0
}

// Unchanged reports whether a file with the stamp now has, for certain, the contents that it had
// when s was taken.
func (s Stamp) Unchanged(now Stamp) bool {
	if s.Fresh || s.IsZero() || !s.mayShareDevice(now) {
		return false
	}
	now.Fresh, now.Device = false, s.Device
	return s == now
}

// ModTime returns when the file was modified last.
func (s Stamp) ModTime() time.Time { return time.Unix(0, s.Modified) }
