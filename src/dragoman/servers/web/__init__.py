"""The web server: HTTP and WebSocket for the page, the editor and scripts, behind one guard."""
