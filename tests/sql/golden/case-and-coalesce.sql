-- values: SELECT SUM(CASE WHEN time > 30 THEN 1 ELSE 0 END) FROM t
-- SUM(CASE WHEN time > 30 THEN 1 ELSE 0 END): one person moves it by at most 1, when time changes the outcome of a test
SELECT
  COALESCE(
    SUM(
      CAST(CASE
        WHEN TRY_CAST("time" AS DOUBLE) > 30.0e0
        AND TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
        THEN 1.0e0
        ELSE 0.0e0
      END AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t";

-- values: SELECT SUM(COALESCE(time, 10)) FROM t
-- SUM(COALESCE(time, 10)): one person moves it by at most |x − x'|, at most 120
SELECT
  COALESCE(
    SUM(
      CAST((
        COALESCE(
          CASE
            WHEN TRY_CAST("time" AS DOUBLE) BETWEEN 0.0e0 AND 120.0e0
            THEN TRY_CAST("time" AS DOUBLE)
            WHEN TRY_CAST("time" AS DOUBLE) < 0.0e0
            THEN 0.0e0
            WHEN TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
            THEN 120.0e0
          END,
          10.0e0
        )
      ) * 1024.0e0 AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t";
