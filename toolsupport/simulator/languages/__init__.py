"""The languages in which simulated models write their calls as text."""
