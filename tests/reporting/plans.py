"""Plans of every kind that a report must be able to tell about, small enough to be quick."""

from __future__ import annotations

CAFETERIA = """
[data]
name = "cafeteria"
source = "cafeteria.csv"
protects = "values"
rows = 3
[query]
sql = "SELECT AVG(time) AS mean_time FROM t WHERE faculty = 'math'"
[columns.time]
bounds = [0, 120]
prior = { normal = { mean = 20, sd = 6.28 } }
[attacker]
goal = "time within 2"
odds = "3 in 10"
at = { time = 20 }
[accuracy]
within = 40
"""

CATS = """
[data]
name = "cats"
source = "cats.parquet"
protects = "values"
[query]
sql = "SELECT COUNT(*) AS n FROM t WHERE colour = 'calico' AND sex = 'F'"
[columns.sex]
missing = false
prior = { categorical = { F = 0.5, M = 0.5 } }
[columns.colour]
missing = false
prior = { categorical = { calico = 0.05, black = 0.5, white = 0.45 } }
[attacker]
goal = "sex exactly JOIN colour exactly"
advantage = 0.1
"""

COVID = """
[data]
name = "covid"
source = "patients.parquet"
protects = "records"
[query]
sql = "SELECT age_group, COUNT(*) AS diagnosed FROM t GROUP BY age_group"
[columns.age_group]
levels = ["0-17", "18-64", "65+"]
[risk]
fixed_value = { q = 1.0, absolute = 0.25, relative = 3.0 }
[accuracy]
within = 10
"""

SURVEY = COVID.replace("covid", "survey").replace(
    "fixed_value = { q = 1.0, absolute = 0.25, relative = 3.0 }",
    "fixed_inclusion = { p = 0.05, absolute = 0.15, relative = 3 }\nconstant = 20",
)

UNKNOWN = """
[data]
name = "salaries"
source = "env:HR_DATABASE"
protects = "values"
rows = 400
[query]
sql = "SELECT AVG(salary) AS mean_salary, SUM(salary) AS total FROM t"
[columns.salary]
bounds = [0, 10000]
missing = false
prior = "unknown"
[attacker]
goal = "salary within 5%"
advantage = 0.1
"""

GAUSSIAN = """
[data]
name = "counts"
source = "counts.csv"
protects = "records"
[query]
sql = "SELECT COUNT(*) AS n, AVG(time) AS mean_time FROM t"
[columns.time]
bounds = [0, 120]
[release]
mechanism = "gaussian"
epsilon = 1
delta = 1e-6
"""

FIXED = """
[data]
name = "counts"
source = "counts.csv"
protects = "records"
[query]
sql = "SELECT COUNT(*) AS n FROM t"
[release]
epsilon = 0.5
"""

FORMULA = """
[data]
name = "homes"
source = "homes.csv"
protects = "values"
rows = 2000
[query]
sql = "SELECT AVG(rent + loan) AS burden FROM t"
[columns.rent]
bounds = [0, 3000]
prior = { normal = { mean = 700, sd = 200 } }
[columns.loan]
bounds = [0, 3000]
prior = { normal = { mean = 300, sd = 150 } }
[attacker]
goal = "rent + loan within 50"
advantage = 0.05
at = { rent = 650, loan = 400 }
"""

DRAWN = {"formula": FORMULA}  # read by one test only
PLANS = {
    "cafeteria": CAFETERIA,
    "worst_exactly": CATS.replace("JOIN", "and").replace('goal = "sex exactly and ', 'goal = "'),
    "and": CATS.replace("JOIN", "and"),
    "or": CATS.replace("JOIN", "or") + "both = true\n",
    "each": CATS.replace("JOIN", "or") + 'or = "each"\nat = { sex = "F", colour = "calico" }\n',
    "worst_posterior": CATS.replace("JOIN", "and").replace("advantage = 0.1", "posterior = 0.4"),
    "covid": COVID,
    "survey": SURVEY,
    "box": COVID.replace(
        "fixed_value = { q = 1.0, absolute = 0.25, relative = 3.0 }", "box = { relative = 3, q = 0.5 }"
    ),
    "points": COVID.replace(
        "fixed_value = { q = 1.0, absolute = 0.25, relative = 3.0 }", "points = [[0.001, 10], [0.4, 1.2]]"
    ),
    "unknown": UNKNOWN,
    "gaussian": GAUSSIAN,
    "fixed": FIXED,
    "cauchy": CAFETERIA + '[release]\nmechanism = "cauchy"\n',
    "infeasible": CAFETERIA.replace("within = 40", "within = 0.01"),
    "infeasible_fixed": CAFETERIA + "[release]\nepsilon = 1000.0\n",
    "infeasible_profile": COVID.replace("within = 10", "within = 0.1"),
    "hopeless": CAFETERIA.replace("3 in 10", "1 in 10"),
    "vacuous": CATS.replace("JOIN", "and").replace("advantage = 0.1", "advantage = 1.0"),
    "tiny": CATS.replace("JOIN", "and")
    .replace("advantage = 0.1", "advantage = 0.00001")
    .replace("calico = 0.05, black = 0.5, white", "calico = 0.00005, black = 0.54995, white"),
}
FEASIBLE = [name for name in PLANS if not name.startswith(("infeasible", "hopeless"))]

HOSTILE = """
[data]
name = "</title><script>alert(1)</script>"
source = "<img src=x onerror=alert(2)>.csv"
protects = "values"
[query]
sql = '''
SELECT AVG("a<b>&") AS "</script><b>" FROM t
WHERE "a<b>&" > 3 AND kind = '<script>alert(4)</script>' /* <script>alert(3)</script> */'''
[columns."a<b>&"]
bounds = [0, 120]
prior = { normal = { mean = 20, sd = 6.28 } }
[columns.kind]
missing = false
prior = { categorical = { "<script>alert(4)</script>" = 0.5, "\\"onload=\\"alert(5)\\u0001\\u202e" = 0.5 } }
[attacker]
goal = "kind exactly"
advantage = 0.1
[accuracy]
# </code></pre><script>alert(6)</script> postgresql://me:geheim@host/db password = hunter2
"""
