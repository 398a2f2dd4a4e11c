"""Source code from a checkout, a clone or a mirror: files, functions, licences, and the corpus made of them."""
