package client

import "syscall"

// shrinkBacklog gives a listening socket the smallest backlog.
func shrinkBacklog(fd uintptr) { syscall.Listen(int(fd), 0) }
