// SPDX-License-Identifier: Apache-2.0

package box

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// mount changes what the node's programs see of the machine's files, and nothing that anybody else sees.
func (s Setup) mount() error {
	resolvConf, err := filepath.EvalSymlinks("/etc/resolv.conf") // may lead into /run
	if err != nil {
		return fmt.Errorf("/etc/resolv.conf must exist, so that the node's own can take its place: %w", err)
	}
	own, err := os.Open(s.Dir) // may be below what we hide
	if err != nil {
		return err
	}
	defer own.Close()
	// Private first, or the machine would see our mounts; then shared among the pods, which want that for mount propagation.
	errs := []error{
		mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		mount("none", "/", "", syscall.MS_REC|syscall.MS_SHARED, ""),
		mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, ""),
	}
	errs = append(errs,
		mount("tmpfs", "/run", "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, "mode=755"),
		os.Mkdir(Dir, 0o700),
		mount(fmt.Sprintf("/proc/self/fd/%d", own.Fd()), Dir, "", syscall.MS_BIND, ""),
		copyOnWrite("/var/lib", "/run/var-lib"),
		mount(filepath.Join(Dir, s.LogDir), "/var/log", "", syscall.MS_BIND, ""),
		s.bindResolvConf(resolvConf))
	return errors.Join(errs...)
}

// copyOnWrite keeps what is written to a directory apart. No setting moves what kubelets write to /var/lib/kubelet/device-plugins
// and CNI plug-ins to /var/lib/cni.
func copyOnWrite(dir, apart string) error {
	upper, work := filepath.Join(apart, "upper"), filepath.Join(apart, "work")
	return errors.Join(os.MkdirAll(upper, 0o755), os.MkdirAll(work, 0o755),
		mount("overlay", dir, "overlay", 0, fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", dir, upper, work)))
}

func (s Setup) bindResolvConf(at string) error {
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(at, os.O_CREATE|os.O_RDONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	return mount(filepath.Join(Dir, s.ResolvConf), at, "", syscall.MS_BIND, "")
}

func mount(source, target, kind string, flags uintptr, data string) error {
	if err := syscall.Mount(source, target, kind, flags, data); err != nil {
		return fmt.Errorf("mount %s on %s: %w", source, target, err)
	}
	return nil
}
