-- values: SELECT income, COUNT(*) AS n FROM t GROUP BY income
-- COUNT(*): one person moves it by at most 2, in both groups together, when income changes
SELECT
  CASE
    WHEN "income" < CAST('10000.0' AS DOUBLE PRECISION)
    THEN 0
    ELSE CASE WHEN "income" < CAST('20000.0' AS DOUBLE PRECISION) THEN 1 ELSE 2 END
  END AS "income",
  COUNT(*) AS "m0"
FROM "t"
WHERE
  "income" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('50000.0' AS DOUBLE PRECISION)
GROUP BY
  CASE
    WHEN "income" < CAST('10000.0' AS DOUBLE PRECISION)
    THEN 0
    ELSE CASE WHEN "income" < CAST('20000.0' AS DOUBLE PRECISION) THEN 1 ELSE 2 END
  END;

-- records: SELECT income, SUM(income) AS total FROM t WHERE smoker GROUP BY income ORDER BY income
-- SUM(income): adding or removing one record moves it by at most 50000, changing one by at most 100000
SELECT
  CASE
    WHEN "income" < CAST('10000.0' AS DOUBLE PRECISION)
    THEN 0
    ELSE CASE WHEN "income" < CAST('20000.0' AS DOUBLE PRECISION) THEN 1 ELSE 2 END
  END AS "income",
  COALESCE(
    SUM(
      CAST((
        CASE
          WHEN "income" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('90000.0' AS DOUBLE PRECISION)
          THEN "income"
          WHEN "income" < CAST('0.0' AS DOUBLE PRECISION)
          THEN CAST('0.0' AS DOUBLE PRECISION)
          WHEN "income" <= CAST('Infinity' AS DOUBLE PRECISION)
          THEN CAST('90000.0' AS DOUBLE PRECISION)
        END
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t"
WHERE
  CAST("smoker" AS TEXT) COLLATE "C" = 'true'
  AND "income" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('50000.0' AS DOUBLE PRECISION)
GROUP BY
  CASE
    WHEN "income" < CAST('10000.0' AS DOUBLE PRECISION)
    THEN 0
    ELSE CASE WHEN "income" < CAST('20000.0' AS DOUBLE PRECISION) THEN 1 ELSE 2 END
  END;

-- persons: SELECT income, COUNT(*) AS n FROM t GROUP BY income
-- COUNT(*): adding or removing one person moves it by at most 3, changing one by at most 6
WITH "gp_cells" AS MATERIALIZED (
  SELECT
    CAST("card" AS TEXT) COLLATE "C" AS "gp_unit",
    CASE
      WHEN "income" < CAST('10000.0' AS DOUBLE PRECISION)
      THEN 0
      ELSE CASE WHEN "income" < CAST('20000.0' AS DOUBLE PRECISION) THEN 1 ELSE 2 END
    END AS "k0",
    CAST(COUNT(*) AS DECIMAL) * 1024 AS "v0"
  FROM "t"
  WHERE
    "income" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('50000.0' AS DOUBLE PRECISION)
    AND NOT CAST("card" AS TEXT) COLLATE "C" IS NULL
  GROUP BY
    CAST("card" AS TEXT) COLLATE "C",
    CASE
      WHEN "income" < CAST('10000.0' AS DOUBLE PRECISION)
      THEN 0
      ELSE CASE WHEN "income" < CAST('20000.0' AS DOUBLE PRECISION) THEN 1 ELSE 2 END
    END
), "gp_over" AS (
  SELECT
    "gp_unit",
    SUM(ABS("v0")) AS "t0"
  FROM "gp_cells"
  GROUP BY
    "gp_unit"
  HAVING
    SUM(ABS("v0")) > 3072
)
SELECT
  "gp_cells"."k0" AS "income",
  COALESCE(
    SUM(
      CAST(CASE
        WHEN "gp_over"."t0" > 3072
        THEN DIV(CAST("gp_cells"."v0" AS DECIMAL) * 3072, "gp_over"."t0")
        ELSE "gp_cells"."v0"
      END AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "gp_cells" AS "gp_cells"
LEFT JOIN "gp_over"
  ON "gp_cells"."gp_unit" = "gp_over"."gp_unit"
GROUP BY
  "gp_cells"."k0";
