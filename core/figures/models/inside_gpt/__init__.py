"""The pictures of Inside GPT."""
