"""What one's own work with models looks like: requests read from the logs on this machine, and from nowhere else."""
