"""Replies read: which ids they rate, whatever else they hold."""
