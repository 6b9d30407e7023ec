// Package places answers whether the folders and files that an adapter reads exist, can be read and can be watched, and notices when that changes. An owner
// is whoever wants a folder: the core takes a pointer for each adapter. A file system that does not answer holds up only its own places.
package places
