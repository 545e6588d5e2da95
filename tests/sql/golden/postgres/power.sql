-- values: SELECT SUM(POWER(time, 2)) FROM t
-- SUM(POWER(time, 2)): one person moves it by at most 240·|x − x'|, at most 14400
SELECT
  COALESCE(
    SUM(
      CAST((
        CASE
          WHEN ABS(
            CASE
              WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
              THEN "time"
              WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
              THEN CAST('0.0' AS DOUBLE PRECISION)
              WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
              THEN CAST('120.0' AS DOUBLE PRECISION)
            END
          ) < CAST('3.054936363499605e-151' AS DOUBLE PRECISION)
          THEN CAST('0.0' AS DOUBLE PRECISION)
          ELSE POWER(
            CASE
              WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
              THEN "time"
              WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
              THEN CAST('0.0' AS DOUBLE PRECISION)
              WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
              THEN CAST('120.0' AS DOUBLE PRECISION)
            END,
            CAST('2.0' AS DOUBLE PRECISION)
          )
        END
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t";

-- values: SELECT SUM(time^3 / 1000) FROM t
-- SUM(POWER(time, 3) / 1000): one person moves it by at most 43.2·|x − x'|, at most 1728
SELECT
  COALESCE(
    SUM(
      CAST((
        (
          (
            (
              (
                CASE
                  WHEN ABS(
                    CASE
                      WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
                      THEN "time"
                      WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
                      THEN CAST('0.0' AS DOUBLE PRECISION)
                      WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
                      THEN CAST('120.0' AS DOUBLE PRECISION)
                    END
                  ) < CAST('4.5359484682697377e-101' AS DOUBLE PRECISION)
                  THEN CAST('0.0' AS DOUBLE PRECISION)
                  ELSE POWER(
                    CASE
                      WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
                      THEN "time"
                      WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
                      THEN CAST('0.0' AS DOUBLE PRECISION)
                      WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
                      THEN CAST('120.0' AS DOUBLE PRECISION)
                    END,
                    CAST('3.0' AS DOUBLE PRECISION)
                  )
                END
              ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
          ) / CAST(CAST('1000.0' AS DOUBLE PRECISION) AS DOUBLE PRECISION)
        )
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t";
