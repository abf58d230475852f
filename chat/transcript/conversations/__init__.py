"""Conversations as rows: listed, branched, exported, explained."""
