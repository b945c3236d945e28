"""Makes a shop in a database: python make_shop.py URL, such as sqlite:///shop.db or the one of start_postgres.py."""

import sys

from sqlalchemy import create_engine

TABLES = """
CREATE TABLE customers (
    id integer PRIMARY KEY, name varchar(80) NOT NULL, city varchar(80), about text, api_token text
);
CREATE TABLE products (id integer PRIMARY KEY, title varchar(80) NOT NULL, price numeric(8, 2));
CREATE TABLE orders (
    id integer PRIMARY KEY, customer_id integer REFERENCES customers (id), product_id integer REFERENCES products (id),
    total numeric(8, 2)
);
INSERT INTO customers VALUES
    (1, 'Ann Smith', 'Paris', 'buys tents and hiking boots', 'sk-live-4242424242424242'),
    (2, 'Bob Jones', 'Rome', 'collects old maps and globes', NULL),
    (3, 'Cy Young', 'Oslo', 'runs a bakery', NULL);
INSERT INTO products VALUES (1, 'Tent for two', 99.5), (2, 'Map of 1650', 12), (3, 'Bread knife', 20);
INSERT INTO orders VALUES (10, 1, 1, 99.5), (11, 2, 2, 24), (12, 2, 2, 12);
"""


def make(url: str) -> None:
    """Make the shop's tables in an empty database."""
    with create_engine(url).begin() as connection:
        for statement in TABLES.split(";"):
            if statement.strip():
                connection.exec_driver_sql(statement)


if __name__ == "__main__":
    make(sys.argv[1])
