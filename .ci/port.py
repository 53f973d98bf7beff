"""Prints the first free port from the wanted one on, and says so when the wanted one is taken."""

import errno
import socket
import sys


def taken(port: int) -> bool:
    """Whether somebody listens there, on IPv4 or on IPv6's loopback, which browsers try first for localhost."""
    for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::1")):
        try:
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a server just stopped is not in the way
                probe.bind((address, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return True
            if error.errno == errno.EACCES:
                sys.exit(f"Port {port} is not yours to open: take one from 1024 to 65535, as in make run PORT=8600.")
    return False


def main(wanted: str) -> None:
    if not (wanted.isascii() and wanted.isdigit() and 1 <= int(wanted) <= 65535):
        sys.exit(f"PORT={wanted} is no port: take a number from 1024 to 65535, as in make run PORT=8600.")
    first = int(wanted)
    for port in range(first, min(first + 100, 65536)):
        if not taken(port):
            if port != first:
                print(f"Port {first} is taken: rnnviz takes the next free one, {port}.", file=sys.stderr)
            print(port)
            return
    sys.exit(f"Port {first} and those after it are taken: choose another, as in make run PORT=8600.")


if __name__ == "__main__":
    main(sys.argv[1])
