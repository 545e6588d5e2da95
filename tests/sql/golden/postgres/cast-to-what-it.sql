-- values: SELECT SUM(CAST(time AS DOUBLE)) FROM t
-- SUM(CAST(time AS DOUBLE)): one person moves it by at most |x − x'|, at most 120
SELECT
  COALESCE(
    SUM(
      CAST((
        CASE
          WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
          THEN "time"
          WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
          THEN CAST('0.0' AS DOUBLE PRECISION)
          WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
          THEN CAST('120.0' AS DOUBLE PRECISION)
        END
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
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
            CAST(EXTRACT(EPOCH FROM CASE
              WHEN CAST("born" AS TIMESTAMP) BETWEEN CAST('1920-01-01 00:00:00' AS TIMESTAMP) AND CAST('2025-12-31 00:00:00' AS TIMESTAMP)
              THEN CAST("born" AS TIMESTAMP)
              WHEN CAST("born" AS TIMESTAMP) < CAST('1920-01-01 00:00:00' AS TIMESTAMP)
              THEN CAST('1920-01-01 00:00:00' AS TIMESTAMP)
              WHEN NOT CAST("born" AS TIMESTAMP) IS NULL
              THEN CAST('2025-12-31 00:00:00' AS TIMESTAMP)
            END) * 1000000 AS DOUBLE PRECISION) / CAST('86400000000.0' AS DOUBLE PRECISION)
          ) + CAST('30.0' AS DOUBLE PRECISION)
        )
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    20974592
  ) AS "m0"
FROM "t";
