"""`guessproof serve`: the whole job in a local page that updates while you drag.

FastAPI answers, one static page draws; nothing is fetched from elsewhere. What the page says is what the command line
says: both call the same functions, and every answer is made from a plan.
"""
