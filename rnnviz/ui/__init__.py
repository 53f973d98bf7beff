"""The one room with streamlit in it: controls, caches, scenes, links, downloads, and the frame around the pages."""
