"""The history page's timeline: entries, filters, queries."""
