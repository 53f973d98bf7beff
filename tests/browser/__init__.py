"""Tests in Chromium. A package, so that their server and browser end with the last of them."""
