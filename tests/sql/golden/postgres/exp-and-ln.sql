-- values: SELECT SUM(EXP(time / 60)) FROM t
-- SUM(EXP(time / 60)): one person moves it by at most 0.123151·|x − x'|, at most 7.38906 (6.38906 if no value can be missing: say missing = false)
SELECT
  COALESCE(
    SUM(
      CAST((
        CASE
          WHEN (
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
          ) < CAST('-700.0' AS DOUBLE PRECISION)
          THEN CAST('0.0' AS DOUBLE PRECISION)
          ELSE EXP(
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
          )
        END
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t";

-- values: SELECT SUM(LN(time + 1)) FROM t
-- SUM(LN(time + 1)): one person moves it by at most |x − x'|, at most 4.7958
SELECT
  COALESCE(
    SUM(
      CAST((
        LN(
          (
            CASE
              WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
              THEN "time"
              WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
              THEN CAST('0.0' AS DOUBLE PRECISION)
              WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
              THEN CAST('120.0' AS DOUBLE PRECISION)
            END + CAST('1.0' AS DOUBLE PRECISION)
          )
        )
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t";
