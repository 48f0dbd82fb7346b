"""Campaigns for coding agents: a server of the Model Context Protocol over the client.

Needs the extra ``askwise[mcp]``.
"""
