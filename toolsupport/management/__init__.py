"""Commands for the people who run this site."""
