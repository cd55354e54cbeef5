import gzip

from pages.components.live_chart.assets import plotly_path, plotly_url


def test_plotly_comes_gzipped_and_may_be_kept_for_ever(served, get):
    answer, body = get(served.port, plotly_url(), **{"Accept-Encoding": "gzip, br"})
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer.headers["Content-Type"].startswith("text/javascript")
    assert gzip.decompress(body) == plotly_path().read_bytes()
    assert len(body) < 1.6e6


def test_plotly_of_another_version_or_for_a_plain_client_is_still_served(served, get):
    answer, body = get(served.port, "/live/assets/plotly.min.js?v=1.0")
    assert answer.headers["Cache-Control"] == "no-cache"
    assert "Content-Encoding" not in answer.headers
    assert body == plotly_path().read_bytes()


def test_the_stream_needs_neither_plotly_nor_torch_nor_streamlit(fresh_python):
    code = """
import sys
from pages.components.live_chart.stream import routes
from pages.components.live_chart.assets import plotly_javascript
assert b"plotly" in plotly_javascript(compressed=False)[:500]
print(sorted({"plotly", "torch", "streamlit", "pandas"} & set(sys.modules)))
"""
    assert fresh_python(code).strip() == "[]"
