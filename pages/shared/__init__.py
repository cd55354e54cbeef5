"""What every page uses: one call each."""

from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.device import device_banner
from pages.shared.glossary import term
from pages.shared.header import headline, page_header
from pages.shared.lesson_links import lesson_link, open_lesson
from pages.shared.lessons import Lesson, in_language, lessons_of, load_lessons
from pages.shared.numbers import explained_number
from pages.shared.prose import prose, show_prose
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import presenting, theme_mode, unit_system
from pages.shared.snippets import show_code

__all__ = [
    "Choice",
    "Lesson",
    "device_banner",
    "explained_number",
    "headline",
    "in_language",
    "lesson_link",
    "lessons_of",
    "load_lessons",
    "open_lesson",
    "page_header",
    "pickers",
    "predict_then_reveal",
    "presenting",
    "prose",
    "show_chart",
    "show_code",
    "show_prose",
    "term",
    "theme_mode",
    "unit_system",
]
