package proc

// maxAncestors is far above the number of ancestors that a process has.
const maxAncestors = 64

// Ancestors returns the parent of a process, the parent's parent and so on, without the first process of the system.
func Ancestors(table interface {
	Find(pid int) (Process, error)
}, of Process) (list []Identity) {
	for of.PPID > 1 && len(list) < maxAncestors {
		next, err := table.Find(of.PPID)
		if err != nil || next.Start > of.Start { // Windows keeps the number of a parent that has ended, and may give the number to another process
			break
		}
		list = append(list, next.Identity)
		of = next
	}
	return list
}
