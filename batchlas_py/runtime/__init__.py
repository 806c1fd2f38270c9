"""Compiler, kernel cache, launches, memory and the emulator."""
