-- values: SELECT SUM(t.salary * p.rate) AS pay FROM t JOIN prices AS p ON t.faculty = p.faculty
-- SUM(salary * p.rate): one person moves it by at most 2·|x − x'|, at most 6000
SELECT
  COALESCE(
    SUM(
      CAST((
        (
          (
            (
              (
                CASE
                  WHEN "salary" BETWEEN CAST('1000.0' AS DOUBLE PRECISION) AND CAST('4000.0' AS DOUBLE PRECISION)
                  THEN "salary"
                  WHEN "salary" < CAST('1000.0' AS DOUBLE PRECISION)
                  THEN CAST('1000.0' AS DOUBLE PRECISION)
                  WHEN "salary" <= CAST('Infinity' AS DOUBLE PRECISION)
                  THEN CAST('4000.0' AS DOUBLE PRECISION)
                  ELSE CAST('1000.0' AS DOUBLE PRECISION)
                END
              ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
          ) * (
            (
              (
                CASE
                  WHEN "p.rate" BETWEEN CAST('0.5' AS DOUBLE PRECISION) AND CAST('2.0' AS DOUBLE PRECISION)
                  THEN "p.rate"
                  WHEN "p.rate" < CAST('0.5' AS DOUBLE PRECISION)
                  THEN CAST('0.5' AS DOUBLE PRECISION)
                  WHEN "p.rate" <= CAST('Infinity' AS DOUBLE PRECISION)
                  THEN CAST('2.0' AS DOUBLE PRECISION)
                END
              ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
          )
        )
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t"
JOIN (
  SELECT
    "faculty" AS "p.faculty",
    "rate" AS "p.rate"
  FROM "prices"
) AS "p"
  ON CAST("faculty" AS TEXT) COLLATE "C" = CAST("p.faculty" AS TEXT) COLLATE "C"
  AND CAST("faculty" AS TEXT) COLLATE "C" IN ('math', 'law');

-- values: SELECT side, SUM(age * n) AS s FROM t LEFT JOIN prices USING (faculty), months GROUP BY side
-- SUM(age * months.n): one person moves it by at most 144·|x − x'|, at most 14400
SELECT
  CAST("prices.side" AS TEXT) COLLATE "C" AS "side",
  COALESCE(
    SUM(
      CAST((
        (
          (
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
          ) * (
            (
              (
                CASE
                  WHEN "months.n" BETWEEN CAST('1.0' AS DOUBLE PRECISION) AND CAST('12.0' AS DOUBLE PRECISION)
                  THEN "months.n"
                  WHEN "months.n" < CAST('1.0' AS DOUBLE PRECISION)
                  THEN CAST('1.0' AS DOUBLE PRECISION)
                  WHEN "months.n" <= CAST('Infinity' AS DOUBLE PRECISION)
                  THEN CAST('12.0' AS DOUBLE PRECISION)
                END
              ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
          )
        )
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t"
LEFT JOIN (
  SELECT
    "faculty" AS "prices.faculty",
    "side" AS "prices.side"
  FROM "prices"
) AS "prices"
  ON CAST("faculty" AS TEXT) COLLATE "C" = CAST("prices.faculty" AS TEXT) COLLATE "C"
  AND CAST("faculty" AS TEXT) COLLATE "C" IN ('math', 'law')
CROSS JOIN (
  SELECT
    "n" AS "months.n"
  FROM "months"
) AS "months"
WHERE
  CAST("prices.side" AS TEXT) COLLATE "C" IN ('a', 'b')
GROUP BY
  CAST("prices.side" AS TEXT) COLLATE "C";

-- values: SELECT MAX(time * rate) AS most FROM prices, t WHERE prices.faculty = t.faculty AND rate > 1
-- MAX(time * prices.rate): one person moves it by at most 2·|x − x'|, at most 240
SELECT
  GREATEST(
    MAX(
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
                  WHEN "prices.rate" BETWEEN CAST('0.5' AS DOUBLE PRECISION) AND CAST('2.0' AS DOUBLE PRECISION)
                  THEN "prices.rate"
                  WHEN "prices.rate" < CAST('0.5' AS DOUBLE PRECISION)
                  THEN CAST('0.5' AS DOUBLE PRECISION)
                  WHEN "prices.rate" <= CAST('Infinity' AS DOUBLE PRECISION)
                  THEN CAST('2.0' AS DOUBLE PRECISION)
                END
              ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
          )
        )
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t"
JOIN (
  SELECT
    "faculty" AS "prices.faculty",
    "rate" AS "prices.rate"
  FROM "prices"
) AS "prices"
  ON CAST("faculty" AS TEXT) COLLATE "C" = CAST("prices.faculty" AS TEXT) COLLATE "C"
  AND CAST("faculty" AS TEXT) COLLATE "C" IN ('math', 'law')
WHERE
  "prices.rate" > CAST('1.0' AS DOUBLE PRECISION)
  AND "prices.rate" <= CAST('Infinity' AS DOUBLE PRECISION);
