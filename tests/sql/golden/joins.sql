-- values: SELECT SUM(t.salary * p.rate) AS pay FROM t JOIN prices AS p ON t.faculty = p.faculty
-- SUM(salary * p.rate): one person moves it by at most 2·|x − x'|, at most 6000
SELECT
  COALESCE(
    SUM(
      CAST((
        (
          CASE
            WHEN TRY_CAST("salary" AS DOUBLE) BETWEEN 1000.0e0 AND 4000.0e0
            THEN TRY_CAST("salary" AS DOUBLE)
            WHEN TRY_CAST("salary" AS DOUBLE) < 1000.0e0
            THEN 1000.0e0
            WHEN TRY_CAST("salary" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
            THEN 4000.0e0
            ELSE 1000.0e0
          END * CASE
            WHEN TRY_CAST("p.rate" AS DOUBLE) BETWEEN 0.5e0 AND 2.0e0
            THEN TRY_CAST("p.rate" AS DOUBLE)
            WHEN TRY_CAST("p.rate" AS DOUBLE) < 0.5e0
            THEN 0.5e0
            WHEN TRY_CAST("p.rate" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
            THEN 2.0e0
          END
        )
      ) * 1024.0e0 AS BIGINT)
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
  ON "faculty" COLLATE C = "p.faculty" COLLATE C
  AND "faculty" COLLATE C IN ('math', 'law');

-- values: SELECT side, SUM(age * n) AS s FROM t LEFT JOIN prices USING (faculty), months GROUP BY side
-- SUM(age * months.n): one person moves it by at most 144·|x − x'|, at most 14400
SELECT
  "prices.side" COLLATE C AS "side",
  COALESCE(
    SUM(
      CAST((
        (
          CASE
            WHEN TRY_CAST("age" AS DOUBLE) BETWEEN 0.0e0 AND 100.0e0
            THEN TRY_CAST("age" AS DOUBLE)
            WHEN TRY_CAST("age" AS DOUBLE) < 0.0e0
            THEN 0.0e0
            WHEN TRY_CAST("age" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
            THEN 100.0e0
          END * CASE
            WHEN TRY_CAST("months.n" AS DOUBLE) BETWEEN 1.0e0 AND 12.0e0
            THEN TRY_CAST("months.n" AS DOUBLE)
            WHEN TRY_CAST("months.n" AS DOUBLE) < 1.0e0
            THEN 1.0e0
            WHEN TRY_CAST("months.n" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
            THEN 12.0e0
          END
        )
      ) * 1024.0e0 AS BIGINT)
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
  ON "faculty" COLLATE C = "prices.faculty" COLLATE C
  AND "faculty" COLLATE C IN ('math', 'law')
CROSS JOIN (
  SELECT
    "n" AS "months.n"
  FROM "months"
) AS "months"
WHERE
  "prices.side" COLLATE C IN ('a', 'b')
GROUP BY
  "prices.side" COLLATE C;

-- values: SELECT MAX(time * rate) AS most FROM prices, t WHERE prices.faculty = t.faculty AND rate > 1
-- MAX(time * prices.rate): one person moves it by at most 2·|x − x'|, at most 240
SELECT
  GREATEST(
    MAX(
      CAST((
        (
          CASE
            WHEN TRY_CAST("time" AS DOUBLE) BETWEEN 0.0e0 AND 120.0e0
            THEN TRY_CAST("time" AS DOUBLE)
            WHEN TRY_CAST("time" AS DOUBLE) < 0.0e0
            THEN 0.0e0
            WHEN TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
            THEN 120.0e0
          END * CASE
            WHEN TRY_CAST("prices.rate" AS DOUBLE) BETWEEN 0.5e0 AND 2.0e0
            THEN TRY_CAST("prices.rate" AS DOUBLE)
            WHEN TRY_CAST("prices.rate" AS DOUBLE) < 0.5e0
            THEN 0.5e0
            WHEN TRY_CAST("prices.rate" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
            THEN 2.0e0
          END
        )
      ) * 1024.0e0 AS BIGINT)
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
  ON "faculty" COLLATE C = "prices.faculty" COLLATE C
  AND "faculty" COLLATE C IN ('math', 'law')
WHERE
  TRY_CAST("prices.rate" AS DOUBLE) > 1.0e0
  AND TRY_CAST("prices.rate" AS DOUBLE) <= CAST('Infinity' AS DOUBLE);
