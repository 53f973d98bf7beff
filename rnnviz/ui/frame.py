"""The script that Streamlit runs for every page: its configuration, the navigation, the page."""

import logging
import os
from pathlib import Path

import streamlit as st

from rnnviz.scenes import PAGES

PAGE_FILES = Path(__file__).resolve().parents[2] / "pages"

# Type sizes and rhythm of the first screen: question, claim, picture, verdict and three controls fit 1440 by 900
# without scrolling, and 1024 by 768.
STYLE = """
<style>
.stMainBlockContainer { padding: 4.1rem 2.5rem 4rem; max-width: 1500px; }
.stMainBlockContainer > div > .stVerticalBlock, .stMainBlockContainer .stVerticalBlock { gap: .5rem; }
h1.question { font-size: clamp(1.35rem, 2.2vw, 2rem); line-height: 1.2; padding: 0; margin: 0; font-weight: 650; }
p.claim { font-size: 1.25rem; line-height: 1.35; margin: 0; }
p.verdict sup { font-size: .65em; line-height: 0; }
p.verdict { font-size: 1.5rem; line-height: 1.35; margin: .1rem 0 .3rem; }
h2.why { font-size: 1.35rem; padding: .4rem 0 0; margin: 0; }
.veil { height: 436px; display: grid; place-items: center; border: 2px dashed currentColor; border-radius: 8px;
opacity: .6; font-size: 1.25rem; }
.stSlider label p, .stButtonGroup label p, .stTextInput label p { font-size: 1.05rem; }
.st-key-home_doors .stPageLink { border: 1px solid currentColor; border-radius: 8px; }
.st-key-home_doors a { min-height: 3.5rem; padding: .5rem .9rem; }
.st-key-home_doors a * { white-space: normal; overflow: visible; }
@media (max-height: 790px) and (min-width: 641px) {
  .stMainBlockContainer { padding-top: 3.85rem; }
  .stMainBlockContainer > div > .stVerticalBlock { gap: .2rem; }
  h1.question { font-size: 1.4rem; }
  p.claim { font-size: 1.05rem; }
  p.verdict { font-size: 1.15rem; margin: 0; }
}
@media (max-width: 640px) {
  .st-key-unrolling_picture .stHorizontalBlock { flex-direction: column-reverse; }
  .stMainBlockContainer { padding: 3.8rem 1rem 3rem; }
  p.verdict { font-size: 1.2rem; }
  p.claim { font-size: 1.1rem; }
  .veil { height: 300px; }
}
</style>
"""

st.set_page_config(
    page_title="rnnviz",
    page_icon=str(Path(__file__).with_name("icon.svg")),
    layout="wide",
    initial_sidebar_state="collapsed",
)
st.html(STYLE)
pages = [
    st.Page(PAGE_FILES / f"{name}.py", title=about.title, url_path=name, default=name == "home")
    for name, about in PAGES.items()
]
if os.environ.get("RNNVIZ_DEVELOPER"):
    pages.append(st.Page(PAGE_FILES / "states.py", title="States", url_path="states", visibility="hidden"))
page = st.navigation(pages, position="top")
try:
    page.run()
except Exception:
    # Whatever it was, the reader gets a sentence, and whoever runs the server gets the traceback.
    logging.getLogger("rnnviz").exception("page %s failed", page.url_path or "home")
    st.error("This view could not be computed. Your settings are kept: change one, or choose another scene.")
