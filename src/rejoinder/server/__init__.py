"""The doors: HTTP and WebSocket routes over a chat, for any ASGI server, alone or within another application."""
