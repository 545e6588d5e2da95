-- values, 120 rows: SELECT faculty, AVG(time) AS mean FROM t GROUP BY faculty ORDER BY mean DESC LIMIT 1
-- AVG(time): one person moves it by at most 0.00833334·|x − x'|, at most 1 (over 120 rows or more, known to have a value)
SELECT
  `faculty` AS `faculty`,
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          CASE
            WHEN `time` BETWEEN 0.0e0 AND 120.0e0
            THEN `time`
            WHEN `time` < 0.0e0
            THEN 0.0e0
            WHEN `time` <= CAST('Infinity' AS DOUBLE)
            THEN 120.0e0
          END
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`,
  COUNT(
    CASE
      WHEN `time` BETWEEN 0.0e0 AND 120.0e0
      THEN `time`
      WHEN `time` < 0.0e0
      THEN 0.0e0
      WHEN `time` <= CAST('Infinity' AS DOUBLE)
      THEN 120.0e0
    END
  ) AS `n0`
FROM `t`
WHERE
  `faculty` IN ('math', 'law')
GROUP BY
  `faculty`;

-- records: SELECT faculty, SUM(time) AS total FROM t GROUP BY faculty HAVING total > 100
-- SUM(time): adding or removing one record moves it by at most 120, changing one by at most 240
SELECT
  `faculty` AS `faculty`,
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          CASE
            WHEN `time` BETWEEN 0.0e0 AND 120.0e0
            THEN `time`
            WHEN `time` < 0.0e0
            THEN 0.0e0
            WHEN `time` <= CAST('Infinity' AS DOUBLE)
            THEN 120.0e0
          END
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`
WHERE
  `faculty` IN ('math', 'law')
GROUP BY
  `faculty`;

-- values: SELECT colour, COUNT(*) AS n FROM t GROUP BY colour
-- COUNT(*): one person moves it by at most 2, in both groups together, when colour changes
SELECT
  `colour` AS `colour`,
  COUNT(*) AS `m0`
FROM `t`
WHERE
  `colour` IN ('black', 'white', 'brown')
GROUP BY
  `colour`;

-- values, 120 rows: SELECT smoker, AVG(time) AS mean FROM t GROUP BY smoker
-- SUM(time): one person moves it by at most 240, in both groups together, when smoker changes
-- COUNT(time): one person moves it by at most 2, in both groups together, when smoker changes
SELECT
  `smoker` AS `smoker`,
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          CASE
            WHEN `time` BETWEEN 0.0e0 AND 120.0e0
            THEN `time`
            WHEN `time` < 0.0e0
            THEN 0.0e0
            WHEN `time` <= CAST('Infinity' AS DOUBLE)
            THEN 120.0e0
          END
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`,
  COUNT(CASE WHEN `time` <= CAST('Infinity' AS DOUBLE) THEN 1 END) AS `m1`
FROM `t`
WHERE
  `smoker` IN ('true', 'false')
GROUP BY
  `smoker`;
