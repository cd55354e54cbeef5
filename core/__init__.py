"""The numbers behind the pages; usable from a terminal, without Streamlit."""
