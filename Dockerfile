FROM python:3.11-slim-bookworm

# PyTorch's own index of CPU builds; empty: plain pip, which brings several GB of CUDA
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu

WORKDIR /app
COPY requirements.txt .
RUN if [ -n "$TORCH_INDEX" ]; then \
        pip install --no-cache-dir --retries 1 --timeout 10 --no-deps --index-url "$TORCH_INDEX" \
            "$(grep '^torch==' requirements.txt)" || echo "$TORCH_INDEX is not reachable: larger builds follow"; \
    fi && \
    pip install --no-cache-dir -r requirements.txt

RUN useradd --uid 10001 --no-create-home --home-dir /nonexistent rnnviz && install -d -o rnnviz /data
COPY . .

ENV RNNVIZ_DATA=/data \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 \
    STREAMLIT_SERVER_PORT=8501 \
    STREAMLIT_SERVER_HEADLESS=true \
    PYTHONUNBUFFERED=1
USER 10001
VOLUME /data
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
CMD ["python", "-m", "streamlit", "run", "app.py"]
