"""The snapshotter: folds the committed log as the decider does, and writes snapshots for its restores to begin with."""
