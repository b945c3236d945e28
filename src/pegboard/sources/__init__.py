"""Where tools come from. Each module makes one kind of source; `wrap` changes any of them."""
