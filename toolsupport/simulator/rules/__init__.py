"""Rules by which a simulated model reads text, finds a tool and answers."""
