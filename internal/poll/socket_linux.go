package poll

import (
	"fmt"
	"net/netip"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An Addr is a socket address in the kernel's form, made once and used many
// times.
type Addr struct {
	raw    [unix.SizeofSockaddrUnix]byte
	size   uint32
	family int
}

// TCPAddr returns the kernel's form of ap. An IPv4 address mapped into IPv6
// counts as IPv4; a zone must be a number or an interface's name.
func TCPAddr(ap netip.AddrPort) (Addr, error) {
	var a Addr
	ip := ap.Addr().Unmap()
	switch {
	case ip.Is4():
		sa := (*unix.RawSockaddrInet4)(unsafe.Pointer(&a.raw))
		sa.Family = unix.AF_INET
		sa.Addr = ip.As4()
		a.size, a.family = unix.SizeofSockaddrInet4, unix.AF_INET
	case ip.Is6():
		sa := (*unix.RawSockaddrInet6)(unsafe.Pointer(&a.raw))
		sa.Family = unix.AF_INET6
		sa.Addr = ip.As16()
		if z := ip.Zone(); z != "" {
			id, err := zoneID(z)
			if err != nil {
				return Addr{}, err
			}
			sa.Scope_id = id
		}
		a.size, a.family = unix.SizeofSockaddrInet6, unix.AF_INET6
	default:
		return Addr{}, fmt.Errorf("poll: address %q: want an IPv4 or IPv6 address", ap)
	}
	a.SetPort(ap.Port())
	return a, nil
}

// UnixAddr returns the kernel's form of a unix socket's path. A leading "@"
// stands for the abstract name space.
func UnixAddr(path string) (Addr, error) {
	var a Addr
	if path == "" || len(path) >= len(unix.RawSockaddrUnix{}.Path) {
		return a, fmt.Errorf("poll: unix socket %q: want a path of 1 to %d bytes", path, len(unix.RawSockaddrUnix{}.Path)-1)
	}
	sa := (*unix.RawSockaddrUnix)(unsafe.Pointer(&a.raw))
	sa.Family = unix.AF_UNIX
	for i := range len(path) {
		sa.Path[i] = int8(path[i])
	}
	a.size, a.family = uint32(2+len(path)+1), unix.AF_UNIX
	if path[0] == '@' {
		sa.Path[0] = 0
		a.size--
	}
	return a, nil
}

// SetPort changes the port of an IPv4 or IPv6 address.
func (a *Addr) SetPort(port uint16) {
	// The port lies at the same place in both forms, in network order.
	a.raw[2], a.raw[3] = byte(port>>8), byte(port)
}

// IsUnix says whether a is a unix socket's address.
func (a *Addr) IsUnix() bool { return a.family == unix.AF_UNIX }

// SameFamily says whether a socket made for a can be bound to b.
func (a *Addr) SameFamily(b *Addr) bool { return a.family == b.family }

// Socket opens a non-blocking stream socket of a's family.
func Socket(a *Addr) (int, Errno) {
	fd, _, e := syscall.RawSyscall(syscall.SYS_SOCKET, uintptr(a.family), unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	return int(fd), e
}

// Connect starts connecting fd to a. EINPROGRESS is the ordinary answer.
func Connect(fd int, a *Addr) Errno {
	_, _, e := syscall.RawSyscall(syscall.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&a.raw)), uintptr(a.size))
	return e
}

// Bind gives fd the local address a.
func Bind(fd int, a *Addr) Errno {
	_, _, e := syscall.RawSyscall(syscall.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&a.raw)), uintptr(a.size))
	return e
}

// Write writes from b, which is not empty, and returns how much the kernel took.
func Write(fd int, b []byte) (int, Errno) {
	n, _, e := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	return int(n), e
}

// Read reads into b, which is not empty. 0 bytes without an error is the end
// of the stream.
func Read(fd int, b []byte) (int, Errno) {
	n, _, e := syscall.RawSyscall(syscall.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	return int(n), e
}

// Close closes fd.
func Close(fd int) { syscall.RawSyscall(syscall.SYS_CLOSE, uintptr(fd), 0, 0) }

// ShutdownWrite sends the end of the stream and leaves fd open for reading.
func ShutdownWrite(fd int) Errno {
	_, _, e := syscall.RawSyscall(syscall.SYS_SHUTDOWN, uintptr(fd), unix.SHUT_WR, 0)
	return e
}

// SocketError returns and clears the pending error of fd.
func SocketError(fd int) Errno {
	var v int32
	n := uint32(4)
	_, _, e := syscall.RawSyscall6(syscall.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_ERROR, uintptr(unsafe.Pointer(&v)), uintptr(unsafe.Pointer(&n)), 0)
	if e != 0 {
		return e
	}
	return Errno(v)
}

// SetReset makes Close send a reset instead of an orderly end.
func SetReset(fd int) Errno {
	l := unix.Linger{Onoff: 1}
	_, _, e := syscall.RawSyscall6(syscall.SYS_SETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_LINGER, uintptr(unsafe.Pointer(&l)), unsafe.Sizeof(l), 0)
	return e
}

// SetNoDelay sends small segments at once.
func SetNoDelay(fd int) Errno { return setInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) }

// SetSendBuffer sets the send buffer's size in bytes.
func SetSendBuffer(fd, n int) Errno { return setInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, n) }

// SetReceiveBuffer sets the receive buffer's size in bytes.
func SetReceiveBuffer(fd, n int) Errno { return setInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, n) }

// SetBindNoPort makes a later Bind to port 0 leave the choice of the port to
// Connect, so that a port is taken per destination and not per source.
func SetBindNoPort(fd int) Errno {
	return setInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
}

// ipLocalPortRange is IP_LOCAL_PORT_RANGE (Linux 6.3).
const ipLocalPortRange = 51

// SetPortRange makes Connect choose fd's local port from low to high, which lie
// in the system's range; two zeros stand for that one. The error is ENOPROTOOPT
// where the kernel cannot.
func SetPortRange(fd int, low, high uint16) Errno {
	return setInt(fd, unix.IPPROTO_IP, ipLocalPortRange, int(uint32(high)<<16|uint32(low)))
}

// SetReuseAddr lets Bind take a port whose last connection lingers in TIME_WAIT.
func SetReuseAddr(fd int) Errno { return setInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1) }

func setInt(fd, level, name, value int) Errno {
	v := int32(value)
	_, _, e := syscall.RawSyscall6(syscall.SYS_SETSOCKOPT, uintptr(fd), uintptr(level), uintptr(name), uintptr(unsafe.Pointer(&v)), 4, 0)
	return e
}

// Listen opens a non-blocking socket that listens on a, and returns it with
// the port it got (0 for a unix socket).
func Listen(a *Addr, backlog int) (fd, port int, err error) {
	fd, e := Socket(a)
	if e == 0 && !a.IsUnix() {
		e = SetReuseAddr(fd)
	}
	if e == 0 {
		e = Bind(fd, a)
	}
	if e == 0 {
		if err := unix.Listen(fd, backlog); err != nil {
			Close(fd)
			return -1, 0, fmt.Errorf("poll: listen: %w", err)
		}
	}
	if e != 0 {
		if fd >= 0 {
			Close(fd)
		}
		return -1, 0, fmt.Errorf("poll: listen: %w", e)
	}
	sa, err := unix.Getsockname(fd)
	if err != nil {
		Close(fd)
		return -1, 0, fmt.Errorf("poll: getsockname: %w", err)
	}
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		port = sa.Port
	case *unix.SockaddrInet6:
		port = sa.Port
	}
	return fd, port, nil
}

// Accept takes a connection from a listening socket. The new descriptor is
// non-blocking; the peer's address is the zero Addr for a unix socket.
func Accept(fd int) (int, netip.Addr, Errno) {
	var raw unix.RawSockaddrAny
	size := uint32(unsafe.Sizeof(raw))
	n, _, e := syscall.RawSyscall6(syscall.SYS_ACCEPT4, uintptr(fd), uintptr(unsafe.Pointer(&raw)), uintptr(unsafe.Pointer(&size)), unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0, 0)
	if e != 0 {
		return -1, netip.Addr{}, e
	}
	var ip netip.Addr
	switch raw.Addr.Family {
	case unix.AF_INET:
		ip = netip.AddrFrom4((*unix.RawSockaddrInet4)(unsafe.Pointer(&raw)).Addr)
	case unix.AF_INET6:
		ip = netip.AddrFrom16((*unix.RawSockaddrInet6)(unsafe.Pointer(&raw)).Addr).Unmap()
	}
	return int(n), ip, 0
}
