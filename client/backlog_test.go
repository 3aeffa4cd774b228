package client

import "syscall"

// shrinkBacklog gives a listening socket the smallest backlog.
func shrinkBacklog(fd uintptr) { syscall.Listen(int(fd), 0) }

// shrinkReceiveBuffer gives a socket, and those it accepts, the smallest receive
// buffer.
func shrinkReceiveBuffer(fd uintptr) {
	syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 1)
}
