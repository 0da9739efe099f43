"""The process of a spider: it runs the code of a stranger, and imports nothing that knows a secret of the platform.

What it says goes through its standard output as frames, what it is told comes in lines through its standard input.
"""
