-- values: SELECT SUM(time) FROM t
-- SUM(time): one person moves it by at most |x − x'|, at most 120
SELECT
  COALESCE(
    SUM(
      CAST((
        CASE
          WHEN TRY_CAST("time" AS DOUBLE) BETWEEN 0.0e0 AND 120.0e0
          THEN TRY_CAST("time" AS DOUBLE)
          WHEN TRY_CAST("time" AS DOUBLE) < 0.0e0
          THEN 0.0e0
          WHEN TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
          THEN 120.0e0
        END
      ) * 1024.0e0 AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t";

-- values: SELECT MIN(time) FROM t
-- MIN(time): one person moves it by at most |x − x'|, at most 120
SELECT
  LEAST(
    CAST((
      CASE
        WHEN MIN(TRY_CAST("time" AS DOUBLE)) BETWEEN 0.0e0 AND 120.0e0
        THEN MIN(TRY_CAST("time" AS DOUBLE))
        WHEN MIN(TRY_CAST("time" AS DOUBLE)) < 0.0e0
        THEN 0.0e0
        WHEN MIN(TRY_CAST("time" AS DOUBLE)) <= CAST('Infinity' AS DOUBLE)
        THEN 120.0e0
      END
    ) * 1024.0e0 AS BIGINT),
    122880
  ) AS "m0"
FROM "t";
