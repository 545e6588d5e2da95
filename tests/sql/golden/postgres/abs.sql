-- values: SELECT SUM(ABS(time - 30)) FROM t
-- SUM(ABS(time - 30)): one person moves it by at most |x − x'|, at most 90
SELECT
  COALESCE(
    SUM(
      CAST((
        ABS(
          (
            CASE
              WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
              THEN "time"
              WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
              THEN CAST('0.0' AS DOUBLE PRECISION)
              WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
              THEN CAST('120.0' AS DOUBLE PRECISION)
            END - CAST('30.0' AS DOUBLE PRECISION)
          )
        )
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t";
