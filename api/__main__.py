"""The API process: `python -m api`."""

from api.compose import main
from services.runtime.process import run

if __name__ == "__main__":
    run(main, "api")
