package client

import (
	"syscall"

	"httpgen/sampler"
)

// classify returns the class of a socket's error, OK for none.
func classify(e syscall.Errno) sampler.Class {
	switch e {
	case 0:
		return sampler.OK
	case syscall.ECONNREFUSED:
		return sampler.ConnectRefused
	case syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED:
		return sampler.Reset
	case syscall.ETIMEDOUT:
		return sampler.SocketTimeout
	case syscall.EMFILE:
		return sampler.FDUnavailable
	case syscall.ENFILE:
		return sampler.FileTableFull
	case syscall.EADDRNOTAVAIL, syscall.EADDRINUSE:
		return sampler.AddressUnavailable
	case syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.ENETDOWN:
		return sampler.Unreachable
	}
	return sampler.Other
}
