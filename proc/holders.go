package proc

import "errors"

// rmProcess is RM_PROCESS_INFO, in which Restart Manager of Windows describes a process.
type rmProcess struct {
	pid                 uint32
	startLow, startHigh uint32      // FILETIME: two numbers of 32 bits
	_                   [256]uint16 // the name of the application
	_                   [64]uint16  // that of a service
	_, _, _, _          uint32      // kind, status, session, whether it can be started again
}

var (
	errMoreHolders   = errors.New("there are more processes")
	errNotAmongThem  = errors.New("the Restart Manager does not name a process that certainly has the file open: its answer is not used")
	errHoldersChange = errors.New("the Restart Manager named more processes each time")
)

// readHolders returns the processes that get names. get fills a list and returns how many processes there are, with errMoreHolders where
// the list was too short. The process identified by self has the file open while it is asked: an answer without it is not one.
func readHolders(self Identity, get func(list []rmProcess) (int, error)) ([]Identity, error) {
	list := make([]rmProcess, 8)
	for range 10 { // others may open the file meanwhile
		n, err := get(list)
		if errors.Is(err, errMoreHolders) {
			list = make([]rmProcess, max(n, len(list))+8)
			continue
		}
		if err != nil {
			return nil, err
		}
		var holders []Identity
		found := false
		for _, p := range list[:min(n, len(list))] {
			id := Identity{PID: int(p.pid), Start: uint64(p.startHigh)<<32 | uint64(p.startLow)}
			found = found || id == self
			if id != self {
				holders = append(holders, id)
			}
		}
		if !found {
			return nil, errNotAmongThem
		}
		return holders, nil
	}
	return nil, errHoldersChange
}
