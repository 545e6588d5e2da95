-- values: SELECT SUM(t.salary * p.rate) AS pay FROM t JOIN prices AS p ON t.faculty = p.faculty
-- SUM(salary * p.rate): one person moves it by at most 2·|x − x'|, at most 6000
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          (
            CASE
              WHEN `salary` BETWEEN 1000.0e0 AND 4000.0e0
              THEN `salary`
              WHEN `salary` < 1000.0e0
              THEN 1000.0e0
              WHEN `salary` <= CAST('Infinity' AS DOUBLE)
              THEN 4000.0e0
              ELSE 1000.0e0
            END * CASE
              WHEN `p.rate` BETWEEN 0.5e0 AND 2.0e0
              THEN `p.rate`
              WHEN `p.rate` < 0.5e0
              THEN 0.5e0
              WHEN `p.rate` <= CAST('Infinity' AS DOUBLE)
              THEN 2.0e0
            END
          )
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`
JOIN (
  SELECT
    `faculty` AS `p.faculty`,
    `rate` AS `p.rate`
  FROM `prices`
) AS `p`
  ON `faculty` = `p.faculty` AND `faculty` IN ('math', 'law');

-- values: SELECT side, SUM(age * n) AS s FROM t LEFT JOIN prices USING (faculty), months GROUP BY side
-- SUM(age * months.n): one person moves it by at most 144·|x − x'|, at most 14400
SELECT
  `prices.side` AS `side`,
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          (
            CASE
              WHEN `age` BETWEEN 0.0e0 AND 100.0e0
              THEN `age`
              WHEN `age` < 0.0e0
              THEN 0.0e0
              WHEN `age` <= CAST('Infinity' AS DOUBLE)
              THEN 100.0e0
            END * CASE
              WHEN `months.n` BETWEEN 1.0e0 AND 12.0e0
              THEN `months.n`
              WHEN `months.n` < 1.0e0
              THEN 1.0e0
              WHEN `months.n` <= CAST('Infinity' AS DOUBLE)
              THEN 12.0e0
            END
          )
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`
LEFT JOIN (
  SELECT
    `faculty` AS `prices.faculty`,
    `side` AS `prices.side`
  FROM `prices`
) AS `prices`
  ON `faculty` = `prices.faculty` AND `faculty` IN ('math', 'law')
CROSS JOIN (
  SELECT
    `n` AS `months.n`
  FROM `months`
) AS `months`
WHERE
  `prices.side` IN ('a', 'b')
GROUP BY
  `prices.side`;

-- values: SELECT MAX(time * rate) AS most FROM prices, t WHERE prices.faculty = t.faculty AND rate > 1
-- MAX(time * prices.rate): one person moves it by at most 2·|x − x'|, at most 240
SELECT
  GREATEST(
    MAX(
      CAST(RINT(
        (
          (
            CASE
              WHEN `time` BETWEEN 0.0e0 AND 120.0e0
              THEN `time`
              WHEN `time` < 0.0e0
              THEN 0.0e0
              WHEN `time` <= CAST('Infinity' AS DOUBLE)
              THEN 120.0e0
            END * CASE
              WHEN `prices.rate` BETWEEN 0.5e0 AND 2.0e0
              THEN `prices.rate`
              WHEN `prices.rate` < 0.5e0
              THEN 0.5e0
              WHEN `prices.rate` <= CAST('Infinity' AS DOUBLE)
              THEN 2.0e0
            END
          )
        ) * 1024.0e0
      ) AS BIGINT)
    ),
    0
  ) AS `m0`
FROM `t`
JOIN (
  SELECT
    `faculty` AS `prices.faculty`,
    `rate` AS `prices.rate`
  FROM `prices`
) AS `prices`
  ON `faculty` = `prices.faculty` AND `faculty` IN ('math', 'law')
WHERE
  `prices.rate` > 1.0e0 AND `prices.rate` <= CAST('Infinity' AS DOUBLE);
