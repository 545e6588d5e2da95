-- values: SELECT MEDIAN(grade) AS middle FROM t
-- MEDIAN(grade): a value is picked by its rank; one person moves the ranks of two values apart by at most 2
SELECT
  CAST((
    "x" / CAST(CAST('0.5' AS DOUBLE PRECISION) AS DOUBLE PRECISION)
  ) AS BIGINT) AS "place",
  COUNT(*) AS "n"
FROM (
  SELECT
    CASE
      WHEN "grade" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('20.0' AS DOUBLE PRECISION)
      THEN "grade"
      WHEN "grade" < CAST('0.0' AS DOUBLE PRECISION)
      THEN CAST('0.0' AS DOUBLE PRECISION)
      WHEN "grade" <= CAST('Infinity' AS DOUBLE PRECISION)
      THEN CAST('20.0' AS DOUBLE PRECISION)
    END AS "x"
  FROM "t"
  WHERE
    "grade" <= CAST('Infinity' AS DOUBLE PRECISION)
) AS "kept"
GROUP BY
  1;

-- values: SELECT faculty, QUANTILE(grade, 0.9) AS high, COUNT(time) AS n FROM t WHERE smoker GROUP BY faculty
-- QUANTILE(grade, 0.9): a value is picked by its rank; one person moves the ranks of two values apart by at most 2
-- COUNT(time): one person moves it by at most 1, when smoker changes the outcome of a test
SELECT
  CAST("faculty" AS TEXT) COLLATE "C" AS "faculty",
  COUNT(CASE WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION) THEN 1 END) AS "m1"
FROM "t"
WHERE
  CAST("smoker" AS TEXT) COLLATE "C" = 'true'
  AND CAST("faculty" AS TEXT) COLLATE "C" IN ('math', 'law')
GROUP BY
  CAST("faculty" AS TEXT) COLLATE "C";
SELECT
  "k0",
  CAST((
    "x" / CAST(CAST('0.5' AS DOUBLE PRECISION) AS DOUBLE PRECISION)
  ) AS BIGINT) AS "place",
  COUNT(*) AS "n"
FROM (
  SELECT
    CAST("faculty" AS TEXT) COLLATE "C" AS "k0",
    CASE
      WHEN "grade" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('20.0' AS DOUBLE PRECISION)
      THEN "grade"
      WHEN "grade" < CAST('0.0' AS DOUBLE PRECISION)
      THEN CAST('0.0' AS DOUBLE PRECISION)
      WHEN "grade" <= CAST('Infinity' AS DOUBLE PRECISION)
      THEN CAST('20.0' AS DOUBLE PRECISION)
    END AS "x"
  FROM "t"
  WHERE
    (
      CAST("smoker" AS TEXT) COLLATE "C" = 'true'
      AND CAST("faculty" AS TEXT) COLLATE "C" IN ('math', 'law')
    )
    AND "grade" <= CAST('Infinity' AS DOUBLE PRECISION)
) AS "kept"
GROUP BY
  1,
  2;

-- records: SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY ROUND(time / 7)) AS weeks FROM t
-- PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY ROUND(CAST(time AS DOUBLE PRECISION) / 7)): a value is picked by its rank; adding or removing one record moves the ranks of two values apart by at most 1.5, changing one by at most 2
SELECT
  CAST((
    "x" / CAST(CAST('1.0' AS DOUBLE PRECISION) AS DOUBLE PRECISION)
  ) AS BIGINT) AS "place",
  COUNT(*) AS "n"
FROM (
  SELECT
    TRUNC(
      (
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
          ) / CAST(CAST('7.0' AS DOUBLE PRECISION) AS DOUBLE PRECISION)
        )
      ) + SIGN(
        (
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
            ) / CAST(CAST('7.0' AS DOUBLE PRECISION) AS DOUBLE PRECISION)
          )
        )
      ) * CAST('0.49999999999999994' AS DOUBLE PRECISION)
    ) AS "x"
  FROM "t"
  WHERE
    NOT (
      TRUNC(
        (
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
            ) / CAST(CAST('7.0' AS DOUBLE PRECISION) AS DOUBLE PRECISION)
          )
        ) + SIGN(
          (
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
              ) / CAST(CAST('7.0' AS DOUBLE PRECISION) AS DOUBLE PRECISION)
            )
          )
        ) * CAST('0.49999999999999994' AS DOUBLE PRECISION)
      )
    ) IS NULL
) AS "kept"
GROUP BY
  1;
