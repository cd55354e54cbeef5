"""A picture with its title, its numbers, its link and the link's QR code, as one file."""
