"""Kernel densities by FFT: bandwidths, atoms taken apart, the line, the plane, and up to ten dimensions."""
