"""File systems of their own, as far as this machine allows them."""
import fcntl
import os
import shutil
import struct
import subprocess
import tempfile

from world import Skipped, World

# `EXT4_IOC_SHUTDOWN`: the file system stops at this instant. What was not yet on the disk never will be.
SHUTDOWN = 0x8004587D
WITHOUT_LOG = 2


def _run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else (done.stderr or done.stdout).strip()


def unmount(path):
    """Unmounts what may still be in use."""
    if _run("umount", path) is not None:
        _run("umount", "-l", path)


class Disk:
    """A directory in which a file system is mounted."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="chitin-chaos-disk-")
        os.chmod(self.directory, 0o755)
        self.path = os.path.join(self.directory, "mounted")
        os.makedirs(self.path)

    def close(self):
        unmount(self.path)
        shutil.rmtree(self.directory, ignore_errors=True)


class Memory(Disk):
    """A `tmpfs` of a size."""

    def __init__(self, megabytes):
        super().__init__()
        problem = _run("mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=755", "tmpfs", self.path)
        if problem:
            self.close()
            raise Skipped(f"the right to mount a file system ({problem})")


class Image(Disk):
    """An ext4 image, mounted through a loop device, whose power can be cut."""

    def __init__(self, megabytes):
        super().__init__()
        self.image = os.path.join(self.directory, "image")
        for program in ("mkfs.ext4", "mount", "fsck.ext4"):
            if not shutil.which(program) and not os.path.exists(f"/sbin/{program}"):
                self.close()
                raise Skipped(f"{program}")
        with open(self.image, "wb") as file:
            file.truncate(megabytes << 20)
        problem = _run("mkfs.ext4", "-q", "-F", self.image) or self._mount()
        if problem:
            self.close()
            raise Skipped(f"the right to mount an image ({problem})")
        os.chmod(self.path, 0o755)

    def _mount(self):
        # Discarding blocks would make the image's holes visible as zeros where a disk has old content.
        return _run("mount", "-o", "loop,nodiscard", self.image, self.path)

    def cut(self):
        """Cuts the power: everything that was not written is gone, and every call fails from now on."""
        handle = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(handle, SHUTDOWN, struct.pack("I", WITHOUT_LOG))
        finally:
            os.close(handle)

    def back(self):
        """Mounts what is on the disk, which replays the file system's journal. Returns a problem."""
        unmount(self.path)
        return self._mount()


def with_disk(disk):
    """Returns what makes a world whose home is on a disk of its own."""

    class OnDisk(World):
        """A world that owns a disk."""

        def __init__(self, options, violations, seed):
            self.disk = disk()
            try:
                super().__init__(options, violations, seed, os.path.join(self.disk.path, "home"))
            except BaseException:
                self.disk.close()
                raise

        def close(self):
            super().close()
            self.disk.close()

    return OnDisk
