"""The training process, `python -m core.train.worker RUN_DIR`: torch stays in here."""
