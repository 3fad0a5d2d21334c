"""Documents that people send: reading, searching and writing them."""
