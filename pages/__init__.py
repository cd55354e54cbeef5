"""Thin scripts, one question each. Never run a file in here by hand: `streamlit run app.py`."""
