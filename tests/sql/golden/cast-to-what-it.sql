-- values: SELECT SUM(CAST(time AS DOUBLE)) FROM t
-- SUM(CAST(time AS DOUBLE)): one person moves it by at most |x − x'|, at most 120
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

-- values: SELECT MIN(born + INTERVAL 30 DAY) FROM t
-- MIN(born + INTERVAL '30' DAY): one person moves it by at most |x − x'|, at most 38716
SELECT
  LEAST(
    MIN(
      CAST((
        (
          (
            CAST(EPOCH_US(
              CASE
                WHEN TRY_CAST("born" AS TIMESTAMP) BETWEEN CAST('1920-01-01 00:00:00' AS TIMESTAMP) AND CAST('2025-12-31 00:00:00' AS TIMESTAMP)
                THEN TRY_CAST("born" AS TIMESTAMP)
                WHEN TRY_CAST("born" AS TIMESTAMP) < CAST('1920-01-01 00:00:00' AS TIMESTAMP)
                THEN CAST('1920-01-01 00:00:00' AS TIMESTAMP)
                WHEN NOT TRY_CAST("born" AS TIMESTAMP) IS NULL
                THEN CAST('2025-12-31 00:00:00' AS TIMESTAMP)
              END
            ) AS DOUBLE) / 86400000000.0e0
          ) + 30.0e0
        )
      ) * 1024.0e0 AS BIGINT)
    ),
    20974592
  ) AS "m0"
FROM "t";
