"""Facts about models: overrides, their effective values, reviews, the event log."""
