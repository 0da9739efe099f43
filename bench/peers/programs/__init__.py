"""What runs in the virtual environments of the peers: nothing here may import more of ours than the window."""
