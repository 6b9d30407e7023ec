package agentfile

import "sync"

// readers is the number of files that are read at the same time, to keep a disk busy.
const readers = 6

// Parallel calls fn(0) to fn(n-1), several at a time, and waits.
func Parallel(n int, fn func(i int)) {
	work := make(chan int)
	var wg sync.WaitGroup
	for range min(n, readers) {
		wg.Go(func() {
			for i := range work {
				fn(i)
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	wg.Wait()
}
