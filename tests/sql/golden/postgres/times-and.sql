-- values: SELECT SUM(2 * time) FROM t
-- SUM(2 * time): one person moves it by at most 2·|x − x'|, at most 240
SELECT
  COALESCE(
    SUM(
      CAST((
        (
          CAST('2.0' AS DOUBLE PRECISION) * CASE
            WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
            THEN "time"
            WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
            THEN CAST('0.0' AS DOUBLE PRECISION)
            WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
            THEN CAST('120.0' AS DOUBLE PRECISION)
          END
        )
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t";

-- values: SELECT SUM(time * age) FROM t
-- SUM(time * age): one person moves it by at most 120·|age − age'| + 100·|time − time'|, at most 12000
SELECT
  COALESCE(
    SUM(
      CAST((
        (
          (
            (
              (
                CASE
                  WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
                  THEN "time"
                  WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
                  THEN CAST('0.0' AS DOUBLE PRECISION)
                  WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
                  THEN CAST('120.0' AS DOUBLE PRECISION)
                END
              ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
          ) * (
            (
              (
                CASE
                  WHEN "age" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('100.0' AS DOUBLE PRECISION)
                  THEN "age"
                  WHEN "age" < CAST('0.0' AS DOUBLE PRECISION)
                  THEN CAST('0.0' AS DOUBLE PRECISION)
                  WHEN "age" <= CAST('Infinity' AS DOUBLE PRECISION)
                  THEN CAST('100.0' AS DOUBLE PRECISION)
                END
              ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
          )
        )
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t";

-- values: SELECT SUM(time / 60) FROM t
-- SUM(time / 60): one person moves it by at most 0.0166667·|x − x'|, at most 2
SELECT
  COALESCE(
    SUM(
      CAST((
        (
          (
            (
              (
                CASE
                  WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
                  THEN "time"
                  WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
                  THEN CAST('0.0' AS DOUBLE PRECISION)
                  WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
                  THEN CAST('120.0' AS DOUBLE PRECISION)
                END
              ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
          ) / CAST(CAST('60.0' AS DOUBLE PRECISION) AS DOUBLE PRECISION)
        )
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t";
