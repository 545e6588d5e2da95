"""Print the JSON schema of a plan: python -m guessproof.plan > docs/plan.schema.json"""

import json

from guessproof.plan import schema

if __name__ == "__main__":
    print(json.dumps(schema(), indent=2, ensure_ascii=False))
