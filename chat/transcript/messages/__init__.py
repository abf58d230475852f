"""Messages in the form for models and the form for pages."""
