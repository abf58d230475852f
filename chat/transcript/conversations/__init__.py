"""Chats as rows: listed, branched, exported, explained."""
