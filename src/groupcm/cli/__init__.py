"""The command ``groupcm``."""
