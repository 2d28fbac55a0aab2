"""Practical membership privacy (Lowy et al.): what a mechanism gives away to who knows only whence the records came."""
