package sqlitero

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Layout of the write-ahead log: "WAL File Format", unchanged since SQLite 3.7.0.
const (
	walHeaderSize   = 32
	frameHeaderSize = 24
	walMagic        = 0x377f0682 // or with the lowest bit set
	walSalts        = 16         // in the header of the log
	frameSalts      = 8          // in that of a frame
	shmInit         = 12
	shmPageSize     = 14
	shmFrames       = 16
)

// checkWAL returns an error for damage in the log that SQLite would ignore: SQLite
// treats a log in another form as empty, and stops at the first wrong frame, so that
// rows would be missing without an error. The index in shared memory, if there is one,
// has the number of frames in the log; checkWAL checks some of them.
func (s *snapshot) checkWAL() error {
	if s.wal == nil || s.walSize < walHeaderSize {
		return nil
	}
	var header [walHeaderSize]byte
	if _, err := s.wal.ReadAt(header[:], 0); err != nil {
		return err
	}
	if magic := binary.BigEndian.Uint32(header[:]); magic&^1 != walMagic && magic != 0 {
		return fmt.Errorf("%w: its write-ahead log is damaged", ErrNotDatabase)
	}
	shm := s.before.shm
	if !shm.present || shm.header[shmInit] == 0 ||
		string(shm.header[shmSalts:shmSalts+8]) != string(header[walSalts:walSalts+8]) {
		return nil
	}
	page := int64(binary.NativeEndian.Uint16(shm.header[shmPageSize:]))
	if page&1 != 0 { // 65536 doesn't fit
		page = page&^1 | 1<<16
	}
	frames := int64(binary.NativeEndian.Uint32(shm.header[shmFrames:]))
	const looks = 64
	for i := range min(frames, looks) {
		frame := frames - 1 - i*frames/looks
		if frames <= looks {
			frame = i
		}
		var salts [8]byte
		n, err := s.wal.ReadAt(salts[:], walHeaderSize+frame*(frameHeaderSize+page)+frameSalts)
		if err != nil && err != io.EOF {
			return err
		}
		if n < len(salts) || string(salts[:]) != string(header[walSalts:walSalts+8]) {
			return fmt.Errorf("%w: its write-ahead log is damaged", ErrNotDatabase)
		}
	}
	return nil
}
