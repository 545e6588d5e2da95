"""python -m guessproof"""

from guessproof.cli.app import main

if __name__ == "__main__":
    main()
