package sqlitero

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
)

// Stamp identifies one state of a database, by its files alone. Stamps are comparable
// with ==: equal stamps mean equal content, as far as the file system's clock can tell
// (writes within one tick of that clock that change neither sizes nor headers are not
// noticed before the next write).
type Stamp struct {
	db, wal    file
	walPresent bool
	journal    bool     // a rollback journal with a change in it
	header     [24]byte // bytes 16 to 39 of the database: write version, change counter, sizes
	walHeader  [32]byte
	shm        shm
}

type file struct {
	size  int64
	mtime time.Time // UTC, without monotonic part
	id    fileID
}

// fileID identifies a file on this machine, whatever its name.
type fileID struct{ device, inode uint64 }

// shm holds the index of the log in shared memory (-shm). While a process has the database
// open, the index is exact: it changes with every transaction and before a checkpoint
// changes the database. Layout: "WAL-Index File Format", unchanged since SQLite 3.7.0;
// nBackfillAttempted since 3.12.
type shm struct {
	present   bool
	id        fileID
	header    [48]byte
	attempted uint32 // log frames that a checkpoint has copied, or begun to
}

const (
	headerAt     = 16
	versionAt    = 18 // 2: the database is in WAL mode
	shmAttempted = 128
	shmSalts     = 32 // within header
)

// Look returns the current stamp of the database at path. It reads 150 bytes.
func Look(path string) (Stamp, error) {
	path, err := agentproc.EvalSymlinks(path)
	if err != nil {
		return Stamp{}, err
	}
	var s Stamp
	// The -shm file comes first: its contents must not be newer than those of the files
	// read after it.
	s.shm, err = lookShm(path + "-shm")
	if err != nil {
		return Stamp{}, err
	}
	s.db, err = lookFile(path, piece{headerAt, s.header[:]})
	if err != nil {
		return Stamp{}, err
	}
	s.wal, err = lookFile(path+"-wal", piece{0, s.walHeader[:]})
	switch {
	case err == nil:
		s.walPresent = true
	case !errors.Is(err, fs.ErrNotExist):
		return Stamp{}, err
	}
	s.journal, err = hotJournal(path + "-journal")
	return s, err
}

// undisturbed reports whether a read between the stamps s and after read one consistent
// state.
//
// With the log's index in shared memory this is known exactly: a checkpoint raises
// attempted before it writes into the database, and a restarted log has new salts
// before its first frame is overwritten. A checkpoint of frames that were in the log
// already does no harm: those pages are read from the log. Any other growth of the log
// is after the end that was read. Without that index no process has the database open
// in WAL mode, and the stamps must be equal.
func (s Stamp) undisturbed(after Stamp) bool {
	if s.journal || after.journal || s.db.id != after.db.id {
		return false
	}
	inWAL := s.header[versionAt-headerAt] == 2 && s.walPresent
	if !inWAL || !s.shm.present || !after.shm.present {
		return s == after
	}
	return s.shm.id == after.shm.id &&
		s.shm.attempted == after.shm.attempted &&
		string(s.shm.header[shmSalts:shmSalts+8]) == string(after.shm.header[shmSalts:shmSalts+8]) &&
		s.walPresent == after.walPresent && s.wal.id == after.wal.id &&
		s.walHeader == after.walHeader
}

// piece is a part of a file to read: as many bytes as into has, from the offset at on.
type piece struct {
	at   int64
	into []byte
}

// lookFile returns the state of a regular file and reads pieces of it, as far as it has them.
func lookFile(path string, pieces ...piece) (file, error) {
	if err := regular(path); err != nil {
		return file{}, err
	}
	f, err := agentfile.Open(path)
	if err != nil {
		return file{}, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return file{}, err
	}
	for _, p := range pieces {
		if _, err := f.ReadAt(p.into, p.at); err != nil && err != io.EOF {
			return file{}, err
		}
	}
	stamp := agentfile.StampOfOpen(f, fi)
	return file{size: fi.Size(), mtime: fi.ModTime().UTC().Round(0), id: fileID{stamp.Device, stamp.Inode}}, nil
}

func lookShm(path string) (shm, error) {
	var s shm
	var attempted [4]byte
	// Bytes 120 to 127 are not read: they are used for locks, which Windows enforces.
	f, err := lookFile(path, piece{0, s.header[:]}, piece{shmAttempted, attempted[:]})
	if errors.Is(err, fs.ErrNotExist) {
		return shm{}, nil
	}
	if err != nil {
		return shm{}, err
	}
	s.present = true
	s.id = f.id
	s.attempted = binary.NativeEndian.Uint32(attempted[:])
	return s, nil
}

// hotJournal reports whether there is a rollback journal with content. A finished
// transaction may leave an empty or zeroed one.
func hotJournal(path string) (bool, error) {
	fi, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || fi.Size() == 0 || !fi.Mode().IsRegular() {
		return false, err
	}
	var magic [1]byte
	_, err = lookFile(path, piece{0, magic[:]})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && magic[0] != 0, err
}
