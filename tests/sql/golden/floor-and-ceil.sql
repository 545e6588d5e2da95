-- values: SELECT SUM(FLOOR(time / 10)) FROM t
-- SUM(FLOOR(time / 10)): one person moves it by at most 0.1·|x − x'| + 1 where a test of time changes its outcome + 2 for any change of time, at most 13
SELECT
  COALESCE(
    SUM(
      CAST(FLOOR(
        (
          CASE
            WHEN TRY_CAST("time" AS DOUBLE) BETWEEN 0.0e0 AND 120.0e0
            THEN TRY_CAST("time" AS DOUBLE)
            WHEN TRY_CAST("time" AS DOUBLE) < 0.0e0
            THEN 0.0e0
            WHEN TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
            THEN 120.0e0
          END / CAST(10.0e0 AS DOUBLE)
        )
      ) AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t";

-- values: SELECT SUM(CEIL(time)) FROM t
-- SUM(CEIL(time)): one person moves it by at most |x − x'| + 1 for any change of time, at most 121
SELECT
  COALESCE(
    SUM(
      CAST(CEIL(
        CASE
          WHEN TRY_CAST("time" AS DOUBLE) BETWEEN 0.0e0 AND 120.0e0
          THEN TRY_CAST("time" AS DOUBLE)
          WHEN TRY_CAST("time" AS DOUBLE) < 0.0e0
          THEN 0.0e0
          WHEN TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
          THEN 120.0e0
        END
      ) AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t";
