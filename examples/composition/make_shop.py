"""Makes shop.db beside this file."""

import sqlite3
import sys
from pathlib import Path

SCHEMA = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT, about TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id), total REAL);
INSERT INTO customers VALUES (1, 'Ann Smith', 'Paris', 'buys tents and hiking boots'),
    (2, 'Bob Jones', 'Rome', 'collects old maps'), (3, 'Cy Young', 'Oslo', 'runs a bakery');
INSERT INTO orders VALUES (10, 1, 99.5), (11, 2, 12);
"""

if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    (folder / "shop.db").unlink(missing_ok=True)
    with sqlite3.connect(folder / "shop.db") as connection:
        connection.executescript(SCHEMA)
