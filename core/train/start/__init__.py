"""What happens before a run: what it will be and take, how fast this machine is, its launch."""
