// Package poll is the thin layer between httpgen and the kernel: epoll, raw
// non-blocking stream sockets, and the few per-thread and per-process settings
// that precise pacing needs. It is the only package of httpgen that makes raw
// system calls or imports unsafe.
//
// # Design
//
// Every call that cannot block uses RawSyscall: it skips the scheduler
// bookkeeping of Syscall (about 60 ns), which matters at eight calls a
// connection. Only a Wait with a positive timeout goes through Syscall, so
// that the garbage collector never waits for a sleeping loop.
//
// Errors are bare Errno values (0 is success): wrapping them would allocate on
// the hot path, and the caller turns them into a class anyway.
//
// On systems without epoll the package still builds; there it offers only
// [Supported], [RaiseFileLimit] and [ThreadCPU].
package poll
