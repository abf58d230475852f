"""Messages as a model reads them and as a page shows them."""
