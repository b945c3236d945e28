"""A small shop as a database."""

SCHEMA = """
CREATE TABLE customers (id integer PRIMARY KEY, name varchar(80), city varchar(80), password varchar(80));
CREATE TABLE orders (id integer PRIMARY KEY, customer_id integer REFERENCES customers (id), total numeric(8, 2),
    status varchar(20));
CREATE TABLE notes (id integer PRIMARY KEY, customer integer, body varchar(200));
CREATE INDEX orders_customer ON orders (customer_id);
CREATE VIEW open_orders AS SELECT * FROM orders WHERE status = 'open';
INSERT INTO customers VALUES (1, 'Ann Smith', 'Paris', 'x'), (2, 'Bob 100% Jones', 'Rome', 'y'),
    (3, 'Cy_Young', 'Paris', 'z');
INSERT INTO orders VALUES (1, 1, 10.5, 'open'), (2, 1, 20, 'closed'), (3, 2, 5, 'open');
INSERT INTO notes VALUES (1, 1, 'angry about late delivery'), (2, 2, 'wants a refund for shoes'), (3, 3, 'happy');
"""
