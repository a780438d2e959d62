"""The server that both pages share."""
