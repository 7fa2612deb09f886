//go:build !linux

package main

import (
	"context"
	"log"

	"github.com/foliofs/folio/cmd/folio/internal/mountpoint"
)

// Nothing is mounted on these systems; see mountpoint.Able.

func (*mounter) startDaemon(context.Context, string) error { return mountpoint.Able() }

func detached() error { return mountpoint.Able() }

func systemLogger() *log.Logger { return log.Default() }
